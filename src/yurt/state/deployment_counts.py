"""Counting allocations in their deployments."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from yurt.model.alloc import Allocation
from yurt.model.deployment import Deployment, DeploymentState
from yurt.model.times import time_ns, time_text
from yurt.model.wire import Nanoseconds
from yurt.state.state import State


def count_new(state: State, allocs: Sequence[Allocation], *, index: int, at: Nanoseconds) -> None:
    """Count fresh allocations of one group, all of one deployment or of none."""
    found = _group_of(state, allocs[0])
    if found is not None:
        deployment, group = found
        _put(state, deployment, allocs[0].task_group, _placed(group, allocs, at), index=index, at=at)


def count_change(state: State, old: Allocation, new: Allocation, *, index: int, at: Nanoseconds) -> None:
    """Count that an allocation joined a deployment, or what became of its health in it."""
    found = _group_of(state, new)
    if found is None:
        return
    deployment, group = found
    if old.deployment_id != new.deployment_id:
        moved = _placed(group, (new,), at)
    else:
        moved = _judged(group, old, new, at)
    if moved is not group:
        _put(state, deployment, new.task_group, moved, index=index, at=at)


def _group_of(state: State, alloc: Allocation) -> tuple[Deployment, DeploymentState] | None:
    deployment = state.deployments.get(alloc.deployment_id)
    group = deployment.task_groups.get(alloc.task_group) if deployment is not None else None
    return (deployment, group) if deployment is not None and group is not None else None


def _placed(group: DeploymentState, allocs: Sequence[Allocation], at: Nanoseconds) -> DeploymentState:
    known = group.placed_canaries or ()
    canaries = tuple(
        alloc.id
        for alloc in allocs
        if alloc.deployment_status is not None and alloc.deployment_status.canary and alloc.id not in known
    )
    progress_by = group.require_progress_by
    if progress_by is None and group.progress_deadline:
        progress_by = time_text(at + group.progress_deadline)
    return replace(
        group,
        placed_allocs=group.placed_allocs + len(allocs),
        placed_canaries=(*known, *canaries) if canaries else group.placed_canaries,
        require_progress_by=progress_by,
    )


def _judged(group: DeploymentState, old: Allocation, new: Allocation, at: Nanoseconds) -> DeploymentState:
    """Count a verdict on an allocation's health; becoming healthy after all counts only as progress."""
    before, after = _health(old), _health(new)
    if before == after or after is None:
        return group
    if after is False:
        return replace(
            group,
            healthy_allocs=group.healthy_allocs - (before is True),
            unhealthy_allocs=group.unhealthy_allocs + 1,
        )
    moved = group if before is False else replace(group, healthy_allocs=group.healthy_allocs + 1)
    status = new.deployment_status
    healthy_at = time_ns(status.timestamp) if status is not None else 0
    by = (healthy_at or at) + group.progress_deadline
    if group.progress_deadline and by > time_ns(group.require_progress_by):
        moved = replace(moved, require_progress_by=time_text(by))
    return moved


def _health(alloc: Allocation) -> bool | None:
    return alloc.deployment_status.healthy if alloc.deployment_status is not None else None


def _put(
    state: State, deployment: Deployment, name: str, group: DeploymentState, *, index: int, at: Nanoseconds
) -> None:
    groups = {**deployment.task_groups, name: group}
    changed = replace(deployment, task_groups=groups, modify_index=index, modify_time=at)
    state.deployments.put(deployment.id, changed, index)
