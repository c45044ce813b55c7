"""Placement metrics: why a placement went where it went, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from yurt.model.alloc_metric import AllocMetric, NodeScore
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.resources import Resources
from yurt.scheduler.feasible.base import BaseSet

_encode = msgspec.msgpack.Encoder().encode


class Tally(msgspec.Struct, kw_only=True):
    """What happened to the nodes that were looked at for one placement."""

    evaluated: int = 0
    filtered: int = 0
    class_filtered: dict[str, int] = {}
    constraint_filtered: dict[str, int] = {}
    exhausted: int = 0
    class_exhausted: dict[str, int] = {}
    dimension_exhausted: dict[str, int] = {}

    def filter(self, label: str, nodes: int) -> None:
        """Count nodes that a rule turned away."""
        self.filtered += nodes
        self.constraint_filtered[label] = self.constraint_filtered.get(label, 0) + nodes


def alloc_metric(
    job: Job,
    base: BaseSet | None,
    tally: Tally,
    scores: tuple[NodeScore, ...] = (),
    *,
    pool: str | None = None,
) -> AllocMetric:
    """Put a tally into the form of the API; without `base` it is about no set of nodes in particular."""
    return AllocMetric(
        nodes_evaluated=tally.evaluated,
        nodes_filtered=tally.filtered,
        nodes_in_pool=base.nodes if base is not None else 0,
        node_pool=job.node_pool if pool is None else pool,
        nodes_available=base.nodes_available if base is not None else None,
        class_filtered=tally.class_filtered or None,
        constraint_filtered=tally.constraint_filtered or None,
        nodes_exhausted=tally.exhausted,
        class_exhausted=tally.class_exhausted or None,
        dimension_exhausted=tally.dimension_exhausted or None,
        score_meta_data=scores or None,
    )


def failure_metric(metric: AllocMetric, group: TaskGroup, failures: int) -> AllocMetric:
    """Make the metric of the first failure speak for `failures` of them."""
    return msgspec.structs.replace(
        metric,
        coalesced_failures=failures - 1,
        resources_exhausted=_resources_exhausted(metric.dimension_exhausted or {}, group, failures),
    )


def encode_metric(metric: AllocMetric) -> bytes:
    """Encode a metric as allocations keep it."""
    return _encode(metric)


def _resources_exhausted(
    dimensions: Mapping[str, int], group: TaskGroup, failures: int
) -> dict[str, Resources] | None:
    """What the failed instances lacked, by task: CPU and memory where these ran out, else zeros."""
    if not dimensions:
        return None
    return {
        task.name: Resources(
            cpu=task.resources.cpu * failures if "cpu" in dimensions else 0,
            memory_mb=task.resources.memory_mb * failures if "memory" in dimensions else 0,
        )
        for task in group.tasks
    }
