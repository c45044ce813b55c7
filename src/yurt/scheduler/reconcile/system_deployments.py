"""Deployments of system jobs: how far an update may go, and when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from msgspec.structs import replace

from yurt.model.alloc import Allocation
from yurt.model.deployment import Deployment, DeploymentState
from yurt.model.group import TaskGroup
from yurt.model.job import SYSTEM, Job
from yurt.model.policies import UpdateStrategy
from yurt.model.times import time_text
from yurt.model.wire import Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import health, is_of_version, is_part_of
from yurt.scheduler.reconcile.deployments import (
    JobDeployments,
    has_strategy,
    is_of,
    needs_promotion,
    new_group_state,
    sort_deployments,
)


def sort_system_deployments(job: Job | None, latest: Deployment | None) -> JobDeployments:
    """As for service jobs; but a deployment that brought this version into service stays the current one."""
    if job is not None and not job.stop and latest is not None and is_of(latest, job):
        return JobDeployments(current=latest)
    return sort_deployments(job, latest)


def group_state(
    job: Job, group: TaskGroup, deployments: JobDeployments, allocs: Iterable[Allocation], now: Nanoseconds
) -> DeploymentState | None:
    """What the deployment holds about a group, or is to hold; None if the group is in none."""
    current = deployments.current
    if current is not None:
        return current.task_groups.get(group.name)
    if job.type != SYSTEM or not has_strategy(group.update):
        return None
    if any(is_of_version(alloc, job) for alloc in allocs):
        return None  # this version came into service before, without a deployment
    state = new_group_state(group.update)
    deadline = state.progress_deadline
    return replace(state, require_progress_by=time_text(now + deadline)) if deadline else state


def update_limit(
    job: Job, group: TaskGroup, updates: int, ignored: Iterable[Allocation], deployments: JobDeployments
) -> int:
    """How many instances may be replaced in this pass."""
    if deployments.is_paused or deployments.is_failed:
        return 0
    strategy = group.update if group.update is not None else job.update
    limit = strategy.max_parallel or updates
    if job.type == SYSTEM:
        unsettled = sum(is_part_of(a, deployments.current) and health(a) is None for a in ignored)
        limit -= unsettled
    return max(0, limit)


def is_canarying(job: Job, strategy: UpdateStrategy | None, state: DeploymentState | None) -> bool:
    """Whether replaced instances are canaries, waiting for promotion."""
    return (
        state is not None
        and strategy is not None
        and strategy.canary > 0
        and not state.promoted
        and job.version != 0
    )


def canaries_wanted(strategy: UpdateStrategy, destructive: int, existing: int) -> int:
    """How many canaries there should be; for system jobs `canary` is a percentage of the nodes."""
    share = ceil(strategy.canary * (destructive + existing) / 100)
    return min(share, strategy.max_parallel)


def is_group_done(state: DeploymentState) -> bool:
    """Whether all that a group should have is healthy, and promoted where that is needed."""
    return not needs_promotion(state) and state.healthy_allocs >= state.desired_total


def running_canaries(state: DeploymentState | None, allocs: Sequence[Allocation]) -> list[Allocation]:
    """The canaries of a group that still run."""
    placed = set(state.placed_canaries or ()) if state is not None else set()
    return [alloc for alloc in allocs if alloc.id in placed and not alloc.is_terminal]
