"""Time placing many instances of a group on 10,000 nodes."""

from __future__ import annotations

from benchmarks.scheduler.cluster import a_cluster, a_job, place, seconds
from yurt.model.job import Job
from yurt.model.placement_rules import Constraint, Spread, SpreadTarget
from yurt.model.resources import NetworkResource, Port
from yurt.scheduler.view import View

INSTANCES = 1_200
TARGETS = {"plain_per_s": ">= 100000", "spread_per_s": ">= 50000"}


def run() -> dict[str, float]:
    """Return placements a second by kind of job; each round starts from a fresh view."""
    state = a_cluster()
    racks = Spread(attribute="${meta.rack}", weight=100)
    datacenters = Spread(
        attribute="${node.datacenter}",
        weight=50,
        spread_target=(SpreadTarget(value="dc0", percent=60), SpreadTarget(value="dc1", percent=30)),
    )
    jobs: dict[str, Job] = {
        "plain_per_s": a_job("plain", count=INSTANCES),
        "spread_per_s": a_job("spread", count=INSTANCES, spreads=(racks,)),
        "spread_with_targets_per_s": a_job("targets", count=INSTANCES, spreads=(datacenters,)),
        "two_spreads_per_s": a_job("two", count=INSTANCES, spreads=(racks, datacenters)),
        "spread_over_hosts_per_s": a_job(
            "hosts", count=INSTANCES, spreads=(Spread(attribute="${node.unique.id}", weight=50),)
        ),
        "distinct_hosts_per_s": a_job(
            "distinct", count=INSTANCES, constraints=(Constraint(operand="distinct_hosts"),)
        ),
        "dynamic_ports_per_s": a_job(
            "ports", count=INSTANCES, network=NetworkResource(dynamic_ports=(Port(label="http"),))
        ),
    }

    def rate(job: Job) -> float:
        views = iter([View(state) for _ in range(16)])
        return INSTANCES / seconds(lambda: place(next(views), job, INSTANCES))

    return {name: rate(job) for name, job in jobs.items()}
