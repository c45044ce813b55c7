"""Placing groups: choices, failures and their metrics."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from tests.scheduler.placement.builders import (
    a_constraint,
    a_group,
    a_job,
    a_node,
    a_state,
    a_task,
    an_alloc,
    requests,
    some_resources,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.host_volume import DynamicVolume
from yurt.model.job import SYSTEM, Job
from yurt.model.node import HostVolume, Node
from yurt.model.placement_rules import Spread, SpreadTarget
from yurt.model.resources import NetworkResource, Port, Resources
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.volume import VolumeRequest
from yurt.model.volume_claim import VolumeClaim
from yurt.model.wire import AllocID, NodeID
from yurt.scheduler import place_system, placer
from yurt.scheduler.place import place_group
from yurt.scheduler.requests import PlacedGroup, PlaceRequest
from yurt.scheduler.view import View
from yurt.state.state import State


def place(
    state: State | View, job: Job, wanted: list[PlaceRequest], *, classes_seen: bool = False, seed: int = 3
) -> PlacedGroup:
    return place_group(
        state if isinstance(state, View) else View(state),
        job,
        job.task_groups[0],
        wanted,
        rng=Random(seed),
        configuration=SchedulerConfiguration(),
        classes_seen=classes_seen,
    )


def test_one_view_shows_each_group_what_was_placed_before() -> None:
    view = View(a_state([a_node(0, cpu=1000)]))
    first = place(view, a_job(a_group("g", a_task(cpu=600)), id="one"), requests(1))
    second = place(view, a_job(a_group("g", a_task(cpu=600)), id="two"), requests(1))
    assert (len(first.placed), len(second.placed)) == (1, 0)


def test_failure_counts_dimensions_and_classes() -> None:
    nodes = [
        a_node(0, cpu=2000, memory=1024, node_class="c1"),
        a_node(1, cpu=4000, memory=512, node_class="c2"),
    ]
    job = a_job(a_group("g", a_task(cpu=2500, memory=600), count=3))
    failure = place(a_state(nodes), job, requests(3)).failure
    assert failure == AllocMetric(
        nodes_evaluated=2,
        nodes_in_pool=2,
        node_pool="default",
        nodes_available={"dc1": 2},
        nodes_exhausted=2,
        class_exhausted={"c1": 1, "c2": 1},
        dimension_exhausted={"cpu": 1, "memory": 1},
        resources_exhausted={"t": Resources(cpu=7500, memory_mb=1800)},
        coalesced_failures=2,
    )


def test_failure_for_other_dimensions_has_empty_resources() -> None:
    job = a_job(a_group("g", a_task(cpu=100, memory=100), disk=200_000))
    failure = place(a_state([a_node(0)]), job, requests(1)).failure
    assert failure is not None
    assert failure.dimension_exhausted == {"disk": 1}
    assert failure.resources_exhausted == {"t": Resources(cpu=0, memory_mb=0)}


def test_failure_by_rules_alone_has_no_resources() -> None:
    job = a_job(constraints=[a_constraint("${node.class}", "=", "x")])
    result = place(a_state([a_node(0), a_node(1)]), job, requests(1))
    assert result.failure is not None
    assert result.failure.resources_exhausted is None
    assert result.failure.constraint_filtered == {"${node.class} = x": 1, "computed class ineligible": 1}
    assert result.class_eligibility == {a_node(0).computed_class: False}
    later = place(a_state([a_node(0), a_node(1)]), job, requests(1), classes_seen=True)
    assert later.failure is not None
    assert later.failure.constraint_filtered == {"computed class ineligible": 2}


def test_distinct_hosts_and_properties_are_reported_as_filters() -> None:
    nodes = [a_node(0, node_class="c", meta={"rack": "r1"}), a_node(1), a_node(2, meta={"rack": "r1"})]
    hosts = a_job(a_group(count=4, constraints=[a_constraint("", "distinct_hosts")]))
    failure = place(a_state(nodes), hosts, requests(4)).failure
    assert failure is not None
    assert failure.constraint_filtered == {"distinct_hosts": 3}
    assert failure.class_filtered == {"c": 1}
    racks = a_job(a_group(count=2, constraints=[a_constraint("${meta.rack}", "distinct_property")]))
    failure = place(a_state(nodes), racks, requests(2)).failure
    assert failure is not None
    assert failure.constraint_filtered == {
        'missing property "${meta.rack}"': 1,
        "distinct_property: ${meta.rack}=r1 used by 1 allocs": 2,
    }


def test_allocations_that_still_end_keep_their_room() -> None:
    node = a_node(0, cpu=1000)
    stopping = an_alloc(0, node, resources=some_resources(cpu=600), desired_status="stop")
    job = a_job(a_group("g", a_task(cpu=600)))
    state = a_state([node], [stopping])
    assert place(state, job, requests(1)).placed == ()
    view = View(state)
    view.stop(stopping)
    assert len(place(view, job, requests(1)).placed) == 1


def test_a_sticky_disk_finds_its_node_again() -> None:
    nodes = [a_node(number) for number in range(8)]
    for node in nodes:
        request = PlaceRequest(name_index=0, preferred_node=node.id)
        (placed,) = place(a_state(nodes), a_job(), [request]).placed
        assert placed.node_id == node.id
        metric = msgspec.msgpack.decode(placed.metrics, type=AllocMetric)
        assert (metric.nodes_evaluated, metric.nodes_in_pool) == (1, len(nodes)), "no other was looked at"
    full = an_alloc(0, nodes[0], resources=some_resources(cpu=4000))
    request = PlaceRequest(name_index=0, preferred_node=nodes[0].id)
    assert place(a_state(nodes, [full]), a_job(), [request]).placed[0].node_id != nodes[0].id


def test_replacements_use_the_room_of_what_they_replace() -> None:
    node = a_node(0, cpu=1000)
    job = a_job(a_group("g", a_task(cpu=900)))
    old = an_alloc(0, node, job=job, resources=some_resources(cpu=500))
    view = View(a_state([node], [old]))
    result = place(view, job, [PlaceRequest(name_index=0, replaces=old)])
    assert len(result.placed) == 1
    assert view.is_stopped(old.id)


def test_what_is_not_replaced_lives_on() -> None:
    nodes = [a_node(0, cpu=1000), a_node(1, cpu=1000)]
    job = a_job(a_group("g", a_task(cpu=900), count=2))
    olds = [an_alloc(number, nodes[0], job=job, resources=some_resources(cpu=400)) for number in range(2)]
    other = an_alloc(9, nodes[1], resources=some_resources(cpu=500))
    view = View(a_state(nodes, [*olds, other]))
    result = place(view, job, [PlaceRequest(name_index=n, replaces=olds[n]) for n in range(2)])
    # One new instance needs the room of both old ones, but only one of these may be stopped for it.
    assert result.placed == ()
    assert not view.is_stopped(olds[0].id)
    assert not view.is_stopped(olds[1].id)
    assert not view.is_overfull(0)


def test_volumes_per_instance_bind_instances_to_nodes() -> None:
    def holding(number: int) -> Node:
        name = f"data[{number}]"
        return replace(a_node(number), host_volumes={name: HostVolume(name=name)})

    volume = VolumeRequest(name="v", type="host", source="data", per_alloc=True)
    job = a_job(replace(a_group(count=3), volumes={"v": volume}))
    result = place(a_state([holding(number) for number in range(2)]), job, requests(3))
    assert [one.node_id for one in result.placed] == ["node-0", "node-1"]


@pytest.mark.parametrize("own_metrics", [True, False])
def test_system_jobs_go_to_their_own_nodes(own_metrics: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not own_metrics:
        monkeypatch.setattr(place_system, "OWN_METRICS_INSTANCES_MAX", 0)
    nodes = [a_node(0, node_class="a"), a_node(1, cpu=100), a_node(2, cpu=200), a_node(3, node_class="b")]
    job = a_job(
        a_group("g", a_task(cpu=500)),
        type=SYSTEM,
        constraints=[a_constraint("${node.class}", "!=", "b")],
    )
    wanted = [PlaceRequest(name_index=0, required_node=node.id) for node in nodes]
    result = place(a_state(nodes), job, wanted)
    assert [one.node_id for one in result.placed] == ["node-0"]
    assert result.exhausted == (wanted[1], wanted[2])
    assert result.filtered == (wanted[3],)
    assert result.filtered_metrics == AllocMetric(
        nodes_evaluated=1,
        nodes_filtered=1,
        class_filtered={"b": 1},
        constraint_filtered={"${node.class} != b": 1},
    )
    assert result.failure == AllocMetric(
        nodes_evaluated=1,
        nodes_in_pool=4,
        node_pool="default",
        nodes_available={"dc1": 4},
        nodes_exhausted=1,
        dimension_exhausted={"cpu": 1},
        resources_exhausted={"t": Resources(cpu=1000, memory_mb=0)},
        coalesced_failures=1,
    )
    metric = msgspec.msgpack.decode(result.placed[0].metrics, type=AllocMetric)
    assert (metric.nodes_evaluated, metric.nodes_in_pool, metric.node_pool) == (1, 4, "")
    if own_metrics:
        assert metric.score_meta_data is not None
        (score,) = metric.score_meta_data
        assert score.scores == {"binpack": score.norm_score}


def test_an_updated_system_instance_uses_the_room_it_had() -> None:
    node = a_node(0, cpu=1000)
    job = a_job(a_group("g", a_task(cpu=900)), type=SYSTEM)
    old = an_alloc(0, node, job=job, resources=some_resources(cpu=800))
    wanted = [PlaceRequest(name_index=0, required_node=node.id, replaces=old)]
    assert len(place(a_state([node], [old]), job, wanted).placed) == 1
    busy = an_alloc(1, node, resources=some_resources(cpu=200))
    view = View(a_state([node], [old, busy]))
    assert place(view, job, wanted).exhausted == tuple(wanted)
    assert not view.is_stopped(old.id)


@pytest.mark.parametrize(("wanted", "node"), [(None, 0), ("binpack", 0), ("spread", 1)])
def test_a_job_may_choose_its_algorithm(wanted: str | None, node: int) -> None:
    nodes = [a_node(0), a_node(1)]
    state = a_state(nodes, [an_alloc(0, nodes[0], resources=some_resources(cpu=500, memory=500))])
    job = replace(a_job(), meta={"yurt.algorithm": wanted} if wanted else None)
    (placed,) = place(state, job, requests(1)).placed
    assert placed.node_id == nodes[node].id


def test_the_same_seed_places_the_same_way() -> None:
    state = a_state([a_node(number) for number in range(50)])
    job = a_job(a_group(count=200))
    one, two = (place(state, job, requests(200), seed=5) for _ in range(2))
    assert [placed.node_id for placed in one.placed] == [placed.node_id for placed in two.placed]


@pytest.mark.parametrize("seed", range(6))
def test_a_spread_pick_without_ports_does_not_decide_the_next_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the twin: node 2 lacks the port, and its rack's other node must still come first."""
    monkeypatch.setattr(placer, "OWN_METRICS_INSTANCES_MAX", 0)
    monkeypatch.setattr(placer, "OWN_METRICS_SCORES_MAX", 0)
    network = NetworkResource(reserved_ports=(Port(label="s", value=22),))
    targets = (SpreadTarget(value="r1", percent=20), SpreadTarget(value="r2", percent=30))
    job = a_job(
        replace(a_group("g", a_task(cpu=100)), networks=(network,), count=1),
        spreads=[Spread(attribute="${meta.rack}", weight=30, spread_target=targets)],
    )
    nodes = [
        a_node(1, meta={"rack": "r1"}),
        a_node(2, meta={"rack": "r2"}, reserved_ports="22"),
        a_node(3, meta={"rack": "r2"}),
    ]

    result = place(a_state(nodes), job, requests(2), seed=seed)

    assert [placed.node_id for placed in result.placed] == ["node-3", "node-1"]


# --- claimed volumes ----------------------------------------------------------------------------------------


def claiming(*nodes: int) -> State:
    """Two nodes with a volume each, of which the job has claimed those of `nodes`."""
    state = a_state(
        [
            replace(a_node(number), host_volumes={"data": HostVolume(name="data", id=f"v{number}")})
            for number in range(2)
        ]
    )
    for number in range(2):
        volume = DynamicVolume(id=f"v{number}", name="data", node_id=NodeID(f"node-{number}"), state="ready")
        state.host_volumes.put(volume.id, volume, 1)
    for number in nodes:
        claim = VolumeClaim(
            id=f"c{number}",
            job_id=STICKY.id,
            task_group_name="g",
            alloc_id=AllocID("gone"),
            volume_id=f"v{number}",
            volume_name="data",
        )
        state.volume_claims.put(claim.id, claim, 1)
    return state


STICKY = a_job(
    replace(a_group(), volumes={"v": VolumeRequest(name="v", type="host", source="data", sticky=True)})
)


@pytest.mark.parametrize("seed", range(4))
def test_a_group_goes_back_to_the_volume_it_has_claimed(seed: int) -> None:
    placed = place(claiming(1), STICKY, requests(1), seed=seed).placed
    assert [one.node_id for one in placed] == ["node-1"]


def test_each_claim_is_met_before_another_volume_is_claimed() -> None:
    placed = place(claiming(1), STICKY, requests(3)).placed
    assert placed[0].node_id == "node-1"
    assert len(placed) == 3

    both = place(claiming(0, 1), STICKY, requests(2)).placed
    assert {one.node_id for one in both} == {"node-0", "node-1"}


def test_a_group_waits_for_the_volume_it_has_claimed() -> None:
    state = claiming(1)
    state.host_volumes.put("v1", replace(state.host_volumes["v1"], node_id=NodeID("away")), 2)
    result = place(state, STICKY, requests(1))
    assert result.placed == ()
    assert result.failure is not None
    assert result.failure.constraint_filtered == {"missing compatible host volumes": 2}
