"""The scores of nodes, against worked tables."""

from __future__ import annotations

from random import Random

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from tests.scheduler.placement.builders import (
    a_group,
    a_job,
    a_node,
    a_spread,
    a_state,
    a_task,
    an_affinity,
    an_alloc,
    requests,
    some_resources,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH, Job
from yurt.model.node import Node
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.scheduler.place import place_group
from yurt.scheduler.rank import algorithms
from yurt.scheduler.rank.algorithms import AlgorithmError, algorithm_for
from yurt.scheduler.rank.score import Algorithm, Score, ScoreColumn
from yurt.scheduler.rank.spread import spreads_of
from yurt.scheduler.requests import PlaceRequest
from yurt.scheduler.view import View
from yurt.state.state import State


def scores(
    state: State,
    job: Job,
    *,
    algorithm: str = "binpack",
    group: TaskGroup | None = None,
    request: PlaceRequest | None = None,
) -> dict[str, dict[str, float]]:
    """The scores of one selection by node name; the final one is called `final`."""
    result = place_group(
        View(state),
        job,
        group or job.task_groups[0],
        [request or PlaceRequest(name_index=0)],
        rng=Random(1),
        configuration=SchedulerConfiguration(scheduler_algorithm=algorithm),
    )
    metric = msgspec.msgpack.decode(result.placed[0].metrics, type=AllocMetric)
    return {
        state.nodes[score.node_id].name: {**(score.scores or {}), "final": score.norm_score}
        for score in metric.score_meta_data or ()
    }


@pytest.mark.parametrize(
    ("available", "used", "binpack", "spread"),
    [
        ((2048, 4096), (2048, 4096), 18.0, 0.0),
        ((2048, 4096), (1024, 2048), 13.675, 4.325),
        ((1024, 1024), (1024, 1024), 18.0, 0.0),
        ((3072, 3072), (1024, 1024), 10.7168, 7.2832),
        ((1100, 1100), (1000, 1000), 17.5343, 0.4657),
        ((1200, 1200), (1000, 1000), 17.0644, 0.9356),
        ((1500, 1500), (1000, 1000), 15.6911, 2.3089),
        ((4000, 8192), (500, 256), 3.1953, 14.8047),
        ((4000, 8192), (3000, 6144), 16.4434, 1.5566),
        ((4000, 8192), (4000, 256), 9.6943, 8.3057),
    ],
)
def test_fit(available: tuple[int, int], used: tuple[int, int], binpack: float, spread: float) -> None:
    state = a_state([a_node(0, cpu=available[0], memory=available[1])])
    job = a_job(a_group("g", a_task(cpu=used[0], memory=used[1])))
    assert scores(state, job)["n0"]["binpack"] == pytest.approx(binpack / 18, abs=5e-5)
    spread_out = scores(state, job, algorithm="spread")["n0"]
    assert spread_out["binpack"] == spread_out["final"] == pytest.approx(spread / 18, abs=5e-5)


def test_job_anti_affinity_counts_same_group_only() -> None:
    nodes = [a_node(0), a_node(1)]
    job = a_job(a_group(count=4))
    allocs = [
        an_alloc(0, nodes[0], job=job),
        an_alloc(1, nodes[0], job=job),
        an_alloc(2, nodes[0], job=job, group="h"),
    ]
    found = scores(a_state(nodes, allocs), job)
    assert found["n0"]["job-anti-affinity"] == -0.75
    assert found["n0"]["final"] == pytest.approx((found["n0"]["binpack"] - 0.75) / 2)
    assert found["n1"]["job-anti-affinity"] == 0
    assert found["n1"]["final"] == found["n1"]["binpack"]


def test_reschedule_penalty() -> None:
    nodes = [a_node(0), a_node(1)]
    job = a_job(a_group(count=4))
    allocs = [an_alloc(0, nodes[0], job=job), an_alloc(1, nodes[0], job=job)]
    request = PlaceRequest(name_index=0, penalty_nodes=frozenset({nodes[0].id}))
    found = scores(a_state(nodes, allocs), job, request=request)
    assert found["n0"]["node-reschedule-penalty"] == -1
    assert found["n0"]["final"] == pytest.approx((found["n0"]["binpack"] - 0.75 - 1) / 3)
    assert found["n1"]["node-reschedule-penalty"] == 0


def test_node_affinity_counts_even_when_zero() -> None:
    nodes = [
        a_node(0, datacenter="dc1", attributes={"kernel.version": "4.9"}),
        a_node(1, datacenter="dc2"),
        a_node(2, datacenter="dc2", node_class="large"),
        a_node(3, datacenter="dc1"),
        a_node(4, datacenter="dc3"),
    ]
    job = a_job(
        affinities=[
            an_affinity("${node.datacenter}", "=", "dc1", 100),
            an_affinity("${node.datacenter}", "=", "dc2", -100),
        ]
    )
    group = replace(
        job.task_groups[0],
        affinities=(an_affinity("${attr.kernel.version}", "version", "> 4.0", 50),),
        tasks=(a_task(affinities=[an_affinity("${node.class}", "is", "large", 50)]),),
    )
    found = scores(a_state(nodes), job, group=group)
    affinity = {name: parts["node-affinity"] for name, parts in found.items()}
    assert affinity == pytest.approx({"n0": 0.5, "n1": -1 / 3, "n2": -1 / 6, "n3": 1 / 3, "n4": 0.0})
    assert found["n4"]["final"] == pytest.approx(found["n4"]["binpack"] / 2)


def spread_scores(nodes: list[Node], job: Job, placed: list[int]) -> list[float]:
    allocs = [an_alloc(number, nodes[at], job=job) for number, at in enumerate(placed)]
    view = View(a_state(nodes, allocs))
    slots = np.arange(len(nodes), dtype=np.intp)
    total = np.zeros(len(nodes))
    for spread in spreads_of(view, job, job.task_groups[0], slots):
        total += spread.boosts[spread.index]
    return [float(score) for score in total]


@pytest.mark.parametrize(
    ("targets", "count", "placed", "expected"),
    [
        pytest.param({"dc1": 80}, 10, [0, 0], [0.625, 0.5, 0.5], id="the rest is implied"),
        pytest.param({"dc1": 80}, 10, [0] * 7, [0.0, 0.5, 0.5], id="as many as wanted"),
        pytest.param({"dc1": 80, "dc2": 20}, 10, [], [0.875, 0.5, -1.0], id="not listed"),
        pytest.param({"dc1": 50, "dc2": 50, "rest": 0}, 8, [], [0.75, 0.75, -1.0], id="none wanted"),
        pytest.param(
            {"dc1": 99, "dc2": 1, "rest": 0}, 8, [], [6.92 / 7.92, -11.5, -11.5], id="lowest seen so far"
        ),
        pytest.param({}, 10, [], [0.0, 0.0, 0.0], id="even, nothing placed"),
        pytest.param({}, 10, [0, 0], [-1.0, 1.0, 1.0], id="even, one value used"),
        pytest.param({}, 10, [0, 0, 1, 1, 1], [0.5, -0.5, 1.0], id="even, two values used"),
        pytest.param({}, 10, [0, 0, 0, 1, 1, 1], [-1.0, -1.0, 1.0], id="even, level"),
    ],
)
def test_spread(targets: dict[str, int], count: int, placed: list[int], expected: list[float]) -> None:
    nodes = [a_node(number, datacenter=f"dc{number + 1}") for number in range(3)]
    job = a_job(a_group(count=count, spreads=[a_spread("${node.datacenter}", 100, **targets)]))
    assert spread_scores(nodes, job, placed) == pytest.approx(expected)


def test_two_spreads_share_their_weights() -> None:
    nodes = [
        a_node(0, datacenter="dc1", meta={"rack": "r1"}),
        a_node(1, datacenter="dc2", meta={"rack": "r1"}),
        a_node(2, datacenter="dc1", meta={"rack": "r2"}),
    ]
    group = a_group(count=10, spreads=[a_spread("${meta.rack}", 50, r1=40, r2=60)])
    job = a_job(group, spreads=[a_spread("${node.datacenter}", 100, dc1=60, dc2=40)])
    assert spread_scores(nodes, job, [0, 2]) == pytest.approx([0.5, 2 / 3, 5 / 9])


def test_spread_over_an_attribute_that_nodes_lack() -> None:
    job = a_job(a_group(spreads=[a_spread("${meta.rack}")]))
    assert spread_scores([a_node(0), a_node(1, meta={"rack": "r1"})], job, []) == [-1.0, 0.0]


def test_spread_of_zero_is_no_score() -> None:
    job = a_job(a_group(spreads=[a_spread("${node.datacenter}")]))
    found = scores(a_state([a_node(0)]), job)
    assert "allocation-spread" not in found["n0"]
    assert found["n0"]["final"] == found["n0"]["binpack"]


def test_balanced_weighs_its_four_scores() -> None:
    nodes = [a_node(0, datacenter="dc1"), a_node(1, datacenter="dc2")]
    job = a_job(affinities=[an_affinity("${node.datacenter}", "=", "dc1", 50)])
    allocs = [an_alloc(0, nodes[1], job=job, group="h", resources=some_resources(cpu=1000, memory=2048))]
    found = scores(a_state(nodes, allocs), job, algorithm="balanced")
    assert found["n0"]["free-resources"] == pytest.approx((3500 / 4000 + 7936 / 8192) / 2)
    assert found["n1"]["few-allocations"] == 0.5
    assert (found["n0"]["network-nearness"], found["n1"]["network-nearness"]) == (0.0, 1.0)
    for parts in found.values():
        assert parts["final"] == pytest.approx(
            0.4 * parts["free-resources"]
            + 0.3 * parts["node-affinity"]
            + 0.2 * parts["few-allocations"]
            + 0.1 * parts["network-nearness"]
        )


def test_nearness_is_measured_where_nodes_know_their_place() -> None:
    """10 ms are worth half; nodes that do not know their place are near in their own datacenter."""
    nodes = [
        a_node(0, attributes={"unique.network.coordinate": "0,0,0,0,0.1"}),
        a_node(1, attributes={"unique.network.coordinate": "3,0,4,2.5,0.1"}),
        a_node(2, attributes={"unique.network.coordinate": "0,85,0,2.5,0.1"}),
        a_node(3),
        a_node(4, datacenter="dc2"),
    ]
    allocs = [an_alloc(0, nodes[1], group="h")]
    found = scores(a_state(nodes, allocs), allocs[0].job, algorithm="balanced")

    near = {name: parts["network-nearness"] for name, parts in found.items()}
    assert near == {
        "n0": pytest.approx(10 / 17.5),
        "n1": pytest.approx(10 / 15),
        "n2": pytest.approx(10 / (15 + (9 + 85**2 + 16) ** 0.5)),
        "n3": 1.0,
        "n4": 0.0,
    }


def test_unknown_algorithm_is_named_with_those_there_are() -> None:
    with pytest.raises(AlgorithmError, match=r"'tetris': there is no such algorithm .*balanced, binpack"):
        scores(a_state([a_node(0)]), a_job(), algorithm="tetris")


@pytest.mark.parametrize(
    "values", [np.zeros(5), np.asarray([np.nan]), None], ids=["wrong length", "not finite", "nothing"]
)
def test_bad_plug_in_fails_with_its_name(values: np.ndarray | None, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Algorithm(
        name="bad",
        job_types=frozenset({"service"}),
        columns=(ScoreColumn("odd", lambda _: Score(values)),),  # type: ignore[arg-type]  # what a plug-in may do
    )
    monkeypatch.setitem(algorithms.BUILT_IN, "bad", bad)
    with pytest.raises(AlgorithmError, match="placement algorithm 'bad': it"):
        scores(a_state([a_node(0)]), a_job(), algorithm="bad")
    assert algorithm_for("bad", BATCH).name == "binpack"


class Plug:
    """An entry point, as far as it matters here."""

    name = "plugged"
    value = "some_package:algorithm"

    def __init__(self, loaded: object) -> None:
        self._loaded = loaded

    def load(self) -> object:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


def plug_in(monkeypatch: pytest.MonkeyPatch, loaded: object) -> None:
    def entry_points(*, group: str, name: str = "plugged") -> list[Plug]:
        return [Plug(loaded)] if (group, name) == ("yurt.algorithms", "plugged") else []

    monkeypatch.setattr(algorithms, "entry_points", entry_points)
    algorithms._plugged_in.cache_clear()


def test_algorithms_can_be_plugged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = (ScoreColumn("slot", lambda candidates: Score(candidates.slots.astype(np.float64))),)
    plugged = Algorithm(name="plugged", job_types=frozenset({"service"}), columns=columns)
    plug_in(monkeypatch, plugged)
    state = a_state([a_node(number) for number in range(3)])
    found = scores(state, a_job(), algorithm="plugged")
    assert [found[name]["final"] for name in ("n2", "n1", "n0")] == [2.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("loaded", "problem"),
    [
        (ImportError("no module named numba"), "does not load: no module named numba"),
        ("a text", "is no Algorithm with columns"),
        (Algorithm(name="plugged", job_types=frozenset(), columns=()), "is no Algorithm with columns"),
    ],
)
def test_plug_ins_that_do_not_load(loaded: object, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(monkeypatch, loaded)
    with pytest.raises(AlgorithmError, match=f"'plugged': its plug-in some_package:algorithm {problem}"):
        scores(a_state([a_node(0)]), a_job(), algorithm="plugged")


def test_ties_are_broken_by_the_seed() -> None:
    state = a_state([a_node(number) for number in range(30)])
    job = a_job()
    chosen = {
        place_group(
            View(state),
            job,
            job.task_groups[0],
            requests(1),
            rng=Random(seed),
            configuration=SchedulerConfiguration(),
        )
        .placed[0]
        .node_id
        for seed in range(20)
    }
    assert len(chosen) > 5
