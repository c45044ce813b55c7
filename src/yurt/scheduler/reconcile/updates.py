"""Updates: what a new job version means for each instance that runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH, Job
from yurt.model.node import Node
from yurt.model.wire import ALL_NODE_POOL, AllocID, NodeID
from yurt.scheduler.feasible.base import in_datacenters
from yurt.scheduler.reconcile.alloc_facts import group_of
from yurt.scheduler.reconcile.group_differences import needs_new_alloc


class FitsInPlace(Protocol):
    """Says which instances can take a new version over on their own nodes."""

    def __call__(
        self, job: Job, group: TaskGroup, allocs: Sequence[Allocation], /
    ) -> Mapping[AllocID, AllocatedResources]:
        """What each of `allocs` that fits gets; the others are left out."""


class InPlace(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that takes a new version over where it is; None leaves its resources alone."""

    alloc: Allocation
    resources: AllocatedResources | None


class Updates(msgspec.Struct, frozen=True, kw_only=True):
    """What a new job version means for instances that run."""

    ignore: list[Allocation]
    in_place: list[InPlace]
    destructive: list[Allocation]


def sort_updates(
    allocs: Iterable[Allocation],
    job: Job,
    group: TaskGroup,
    *,
    find_node: Callable[[NodeID], Node | None],
    fits_in_place: FitsInPlace,
) -> Updates:
    """Sort instances by what it takes to bring them to `job`."""
    updates = Updates(ignore=[], in_place=[], destructive=[])
    to_check: list[Allocation] = []
    differs: dict[int, bool] = {}
    for alloc in allocs:
        old = alloc.job
        if old.job_modify_index == job.job_modify_index:
            updates.ignore.append(alloc)
            continue
        if id(old) not in differs:
            differs[id(old)] = needs_new_alloc(old, job, group.name)
        if differs[id(old)]:
            updates.destructive.append(alloc)
        elif alloc.is_terminal:
            updates.ignore.append(alloc)
        elif not may_run_on(job, find_node(alloc.node_id)):
            updates.destructive.append(alloc)
        elif job.type == BATCH and _has_run_limit(alloc):
            updates.in_place.append(InPlace(alloc=alloc, resources=None))
        else:
            to_check.append(alloc)
    fitting = fits_in_place(job, group, to_check) if to_check else {}
    for alloc in to_check:
        if alloc.id in fitting:
            updates.in_place.append(InPlace(alloc=alloc, resources=fitting[alloc.id]))
        else:
            updates.destructive.append(alloc)
    return updates


def may_run_on(job: Job, node: Node | None) -> bool:
    """Whether a node exists and is in a job's pool and datacenters."""
    if node is None or job.node_pool not in (ALL_NODE_POOL, node.node_pool):
        return False
    return in_datacenters(node.datacenter, job.datacenters)


def _has_run_limit(alloc: Allocation) -> bool:
    group = group_of(alloc)
    return group is not None and group.max_run_duration is not None
