"""What plans must satisfy."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.scheduler.placement.builders import (
    a_group,
    a_job,
    a_node,
    a_state,
    a_task,
    an_alloc,
    requests,
    some_resources,
)
from tests.scheduler.placement.clusters import clusters, jobs
from tests.scheduler.placement.plain import plain_use
from tests.scheduler.placement.plans import a_plan
from yurt.model.alloc import CLIENT_LOST, CLIENT_UNKNOWN, Allocation
from yurt.model.allocated import AllocatedPort, AllocatedResources, AllocatedShared
from yurt.model.deployment import Deployment, DeploymentState
from yurt.model.node import NODE_DISCONNECTED, NODE_DOWN, NODE_INELIGIBLE, NODE_INITIALIZING, Node
from yurt.model.plan import PlanChanges, Preemption, UpdateAlloc
from yurt.model.policies import DisconnectStrategy
from yurt.model.scheduler_configuration import PreemptionConfig, SchedulerConfiguration
from yurt.model.wire import AllocID, DeploymentID, NodeID
from yurt.scheduler.check_plan import check_plan
from yurt.scheduler.place import place_group
from yurt.scheduler.requests import Placed, PlaceRequest
from yurt.scheduler.view import View
from yurt.state.state import State
from yurt.state.use import SharedPortClaim, use_of

JOB = a_job(a_group("g", a_task(cpu=1000, memory=100)))
RESOURCES = some_resources(cpu=1000, memory=100)


def on(*nodes: Node, resources: AllocatedResources = RESOURCES) -> list[Placed]:
    return [
        Placed(request=PlaceRequest(name_index=number), node_id=node.id, resources=resources, metrics=b"")
        for number, node in enumerate(nodes)
    ]


def test_a_plan_that_fits_is_committed_as_it_is() -> None:
    nodes = [a_node(0), a_node(1)]
    plan = a_plan(JOB, on(*nodes, nodes[0]))
    checked = check_plan(View(a_state(nodes)), plan)
    assert checked.changes is plan.changes
    assert checked.rejected == ()
    assert checked.refresh_index == 0


def test_a_full_node_refuses_all_of_its_part_and_only_that() -> None:
    nodes = [a_node(0, cpu=1500), a_node(1)]
    running = an_alloc(0, nodes[0], resources=some_resources(cpu=600))
    other = an_alloc(1, nodes[0], resources=some_resources(cpu=10))
    state = a_state(nodes, [running, other])
    plan = a_plan(JOB, on(nodes[1], nodes[0], nodes[1]), stops=[other])
    checked = check_plan(View(state), plan)
    assert checked.rejected == ("node-0",)
    assert checked.refresh_index == max(state.allocs.index, state.nodes.index)
    (kept,) = checked.changes.placements
    assert (kept.ids, kept.name_indexes, kept.node_ids) == (["p-0", "p-2"], [0, 2], ["node-1", "node-1"])
    assert checked.changes.stops == ()


def test_all_at_once_is_all_or_nothing() -> None:
    nodes = [a_node(0, cpu=500), a_node(1)]
    plan = a_plan(JOB, on(*nodes), all_at_once=True)
    checked = check_plan(View(a_state(nodes)), plan)
    assert checked.changes == PlanChanges()
    assert checked.rejected == ("node-0",)


def test_what_the_plan_stops_or_displaces_makes_room() -> None:
    node = a_node(0, cpu=1500)
    running = [an_alloc(number, node, resources=some_resources(cpu=700)) for number in range(2)]
    state = a_state([node], running)
    assert check_plan(View(state), a_plan(JOB, on(node))).rejected == ("node-0",)
    assert check_plan(View(state), a_plan(JOB, on(node), stops=running)).rejected == ()
    displacing = [replace(on(node)[0], preempted=(running[0].id, running[1].id))]
    assert check_plan(View(state), a_plan(JOB, displacing)).rejected == ()


def test_what_was_told_to_stop_earlier_is_not_in_the_way() -> None:
    node = a_node(0, cpu=1500)
    stopping = an_alloc(0, node, resources=some_resources(cpu=700), desired_status="stop")
    state = a_state([node], [stopping])
    assert check_plan(View(state), a_plan(JOB, on(node))).rejected == ()
    # Stopping it once more frees nothing more.
    again = a_plan(JOB, on(node, node), stops=[stopping])
    assert check_plan(View(state), again).rejected == ("node-0",)


def test_plans_before_it_count() -> None:
    node = a_node(0, cpu=1500)
    view = View(a_state([node]))
    first = check_plan(view, a_plan(JOB, on(node)))
    view.add(first.changes)
    assert check_plan(view, a_plan(JOB, on(node), name="q")).rejected == ("node-0",)


@pytest.mark.parametrize(
    "node",
    [
        replace(a_node(0), status=NODE_DOWN),
        replace(a_node(0), status=NODE_DISCONNECTED),
        replace(a_node(0), status=NODE_INITIALIZING),
        replace(a_node(0), scheduling_eligibility=NODE_INELIGIBLE),
    ],
    ids=["down", "disconnected", "initializing", "ineligible"],
)
def test_new_allocations_need_a_ready_node(node: Node) -> None:
    assert check_plan(View(a_state([node])), a_plan(JOB, on(node))).rejected == ("node-0",)


def test_a_missing_node_refuses_new_allocations() -> None:
    assert check_plan(View(a_state([])), a_plan(JOB, on(a_node(0)))).rejected == ("node-0",)


KEEPS = a_job(replace(a_group(), disconnect=DisconnectStrategy(replace=False)))


@pytest.mark.parametrize(
    ("node", "job", "client_status", "accepted"),
    [
        (a_node(0), JOB, None, True),
        (replace(a_node(0), scheduling_eligibility=NODE_INELIGIBLE), JOB, None, True),
        (replace(a_node(0), status=NODE_INITIALIZING), JOB, None, False),
        (replace(a_node(0), status=NODE_DISCONNECTED), JOB, CLIENT_UNKNOWN, True),
        (replace(a_node(0), status=NODE_DISCONNECTED), JOB, None, False),
        (replace(a_node(0), status=NODE_DOWN), JOB, CLIENT_LOST, True),
        (replace(a_node(0), status=NODE_DOWN), JOB, CLIENT_UNKNOWN, False),
        (replace(a_node(0), status=NODE_DOWN), KEEPS, CLIENT_UNKNOWN, True),
    ],
)
def test_changes_of_allocations_that_stay(
    node: Node, job: object, client_status: str | None, accepted: bool
) -> None:
    alloc = an_alloc(0, node, job=job)  # type: ignore[arg-type]  # a job
    plan = a_plan(JOB, [], updates=[UpdateAlloc(id=alloc.id, client_status=client_status)])
    checked = check_plan(View(a_state([node], [alloc])), plan)
    assert (checked.rejected == ()) is accepted
    assert bool(checked.changes.updates) is accepted


def test_preemptions_of_what_has_ended_are_dropped() -> None:
    node = a_node(0)
    ended = an_alloc(0, node, client_status="complete")
    plan = a_plan(JOB, [replace(on(node)[0], preempted=(ended.id,))])
    assert check_plan(View(a_state([node], [ended])), plan).changes.preemptions == ()
    running = replace(ended, client_status="running")
    kept = check_plan(View(a_state([node], [running])), plan).changes.preemptions
    assert kept == (Preemption(ended.id, AllocID("p-0")),)


def with_port(port: int, *, shared: bool = False) -> AllocatedResources:
    return replace(
        RESOURCES,
        shared=AllocatedShared(
            ports=(AllocatedPort(label="p", value=port, host_ip="10.0.0.0", ignore_collision=shared),)
        ),
    )


def test_ports_are_given_once() -> None:
    node = a_node(0)
    holder = an_alloc(0, node, resources=with_port(80))
    state = a_state([node], [holder])
    assert check_plan(View(state), a_plan(JOB, on(node, resources=with_port(80)))).rejected == ("node-0",)
    assert check_plan(View(state), a_plan(JOB, on(node, resources=with_port(81)))).rejected == ()
    assert check_plan(View(state), a_plan(JOB, on(node, resources=with_port(80, shared=True)))).rejected == ()
    twice = a_plan(JOB, on(node, node, resources=with_port(81)))
    assert check_plan(View(state), twice).rejected == ("node-0",)
    instead = a_plan(JOB, on(node, resources=with_port(80)), stops=[holder])
    assert check_plan(View(state), instead).rejected == ()
    view = View(state)
    view.add(a_plan(JOB, on(node, resources=with_port(82)), name="q").changes)
    assert check_plan(view, a_plan(JOB, on(node, resources=with_port(82)))).rejected == ("node-0",)


def test_canaries_that_were_not_placed_are_forgotten() -> None:
    nodes = [a_node(0, cpu=10), a_node(1)]
    old = an_alloc(0, nodes[1])
    plan = a_plan(JOB, on(*nodes))
    state_of_group = DeploymentState(placed_canaries=("p-0", "p-1", old.id))
    deployment = Deployment(id=DeploymentID("d"), task_groups={"g": state_of_group})
    plan = replace(plan, changes=replace(plan.changes, deployment=deployment))
    kept = check_plan(View(a_state(nodes, [old])), plan).changes.deployment
    assert kept is not None
    assert kept.task_groups["g"].placed_canaries == ("p-1", old.id)


PREEMPTING = SchedulerConfiguration(preemption_config=PreemptionConfig(service_scheduler_enabled=True))


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_every_plan_passes(data: st.DataObject) -> None:
    job = data.draw(jobs())
    made, allocs = data.draw(clusters(job))
    state = a_state(made, allocs)
    old = [alloc for alloc in allocs if alloc.job_key == job.key and not alloc.is_terminal]
    replaced = old[: data.draw(st.integers(0, len(old)))]
    wanted = [
        PlaceRequest(name_index=number, replaces=replaced[number] if number < len(replaced) else None)
        for number in range(data.draw(st.integers(1, 10)))
    ]
    configuration = data.draw(st.sampled_from([PREEMPTING, SchedulerConfiguration()]))
    result = place_group(
        View(state), job, job.task_groups[0], wanted, rng=Random(1), configuration=configuration
    )
    stops = [one.request.replaces for one in result.placed if one.request.replaces is not None]
    checked = check_plan(View(state), a_plan(job, result.placed, stops=stops))
    # Generated clusters may be overfull from the start: such nodes take nothing, and are given nothing.
    assert checked.rejected == ()


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_racing_views_never_overcommit(data: st.DataObject) -> None:
    job = data.draw(jobs())
    made, _ = data.draw(clusters(job))
    state = a_state(made)
    applier = View(state)
    committed: list[tuple[NodeID, AllocatedResources]] = []
    for racer in range(3):
        own = replace(job, id=f"job-{racer}")
        result = place_group(
            View(state),
            own,
            own.task_groups[0],
            requests(5),
            rng=Random(racer),
            configuration=SchedulerConfiguration(),
        )
        checked = check_plan(applier, a_plan(own, result.placed, name=f"racer-{racer}"))
        applier.add(checked.changes)
        kept = {alloc_id for one in checked.changes.placements for alloc_id in one.ids}
        committed += [
            (one.node_id, one.resources)
            for number, one in enumerate(result.placed)
            if f"racer-{racer}-{number}" in kept
        ]
    assert_within_capacity(state, committed)


def assert_within_capacity(state: State, committed: list[tuple[NodeID, AllocatedResources]]) -> None:
    for node in state.nodes:
        here = [resources for node_id, resources in committed if node_id == node.id]
        use = [plain_use(resources) for resources in here]
        has = node.node_resources
        assert sum(cpu for cpu, _, _ in use) <= has.cpu.cpu_shares
        assert sum(memory for _, memory, _ in use) <= has.memory.memory_mb
        assert sum(disk for _, _, disk in use) <= has.disk.disk_mb
        assert not node.node_max_allocs or len(here) <= node.node_max_allocs
        claims = [claim for resources in here for claim in use_of(resources).claims]
        exclusive = [claim for claim in claims if not isinstance(claim, SharedPortClaim)]
        assert len(exclusive) == len(set(exclusive))


def test_stored_allocations_are_what_the_check_is_about() -> None:
    """A stop of an allocation that State does not know changes nothing."""
    node = a_node(0)
    unknown: Allocation = an_alloc(9, node)
    assert check_plan(View(a_state([node])), a_plan(JOB, [], stops=[unknown])).rejected == ()
