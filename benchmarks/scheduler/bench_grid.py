"""Time placing over a grid of cluster sizes, instances and kinds of rule, and how the time grows."""

from __future__ import annotations

from math import log2

from benchmarks.scheduler.cluster import a_cluster, a_job, place, seconds
from yurt.model.job import Job
from yurt.model.placement_rules import Affinity, Constraint, Spread
from yurt.model.resources import NetworkResource, Port
from yurt.scheduler.view import View
from yurt.state.state import State

NODES = (500, 1_000, 5_000, 10_000)
INSTANCES = (50, 300, 1_200)
KINDS = ("plain", "spread", "affinity", "distinct_hosts", "dynamic_port")
ROUNDS = 3
TARGETS = {
    "plain_10000x1200_per_s": ">= 100000",
    "spread_10000x1200_per_s": ">= 50000",
    "plain_growth_with_nodes": "<= 1.1",
    "plain_growth_with_instances": "<= 1.1",
    "spread_growth_with_nodes": "<= 1.1",
    "spread_growth_with_instances": "<= 1.1",
}


def run() -> dict[str, float]:
    """Return placements a second for each cell, and exponents by which time grows with nodes and instances.

    An exponent of 1 means that twice as many take twice as long. They are taken over the largest steps
    of the grid, where fixed costs hide least.
    """
    times: dict[tuple[str, int, int], float] = {}
    for nodes in NODES:
        state = a_cluster(nodes)
        for kind in KINDS:
            for instances in INSTANCES:
                if kind == "distinct_hosts" and instances > nodes:
                    continue
                times[kind, nodes, instances] = _time(state, _job(kind, instances), instances)
    figures = {
        f"{kind}_{nodes}x{instances}_per_s": instances / time
        for (kind, nodes, instances), time in times.items()
    }
    for kind in KINDS:
        most = INSTANCES[-1]
        small, large = times[kind, NODES[-2], most], times[kind, NODES[-1], most]
        figures[f"{kind}_growth_with_nodes"] = log2(large / small) / log2(NODES[-1] / NODES[-2])
        few = times[kind, NODES[-1], INSTANCES[-2]]
        figures[f"{kind}_growth_with_instances"] = log2(large / few) / log2(most / INSTANCES[-2])
    return figures


def _time(state: State, job: Job, instances: int) -> float:
    views = iter([View(state) for _ in range(ROUNDS + 1)])

    def once() -> None:
        placed = place(next(views), job, instances).placed
        assert len(placed) == instances, f"{job.id}: {len(placed)} of {instances} placed"

    return seconds(once, rounds=ROUNDS)


def _job(kind: str, instances: int) -> Job:
    return a_job(
        kind,
        count=instances,
        spreads=(Spread(attribute="${meta.rack}", weight=100),) if kind == "spread" else (),
        affinities=(
            (Affinity(ltarget="${node.datacenter}", operand="=", rtarget="dc1", weight=50),)
            if kind == "affinity"
            else ()
        ),
        constraints=(Constraint(operand="distinct_hosts"),) if kind == "distinct_hosts" else (),
        network=NetworkResource(dynamic_ports=(Port(label="http"),)) if kind == "dynamic_port" else None,
    )
