"""Reconciling a service or batch job: all of its groups, and its deployment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from yurt.model.alloc import Allocation
from yurt.model.deployment import (
    DEPLOYMENT_INITIALIZING,
    DEPLOYMENT_PENDING,
    Deployment,
    DeploymentStatusUpdate,
)
from yurt.model.evaluation import Evaluation
from yurt.model.job import BATCH, Job
from yurt.model.node import Node
from yurt.model.wire import Nanoseconds, NodeID
from yurt.scheduler.reconcile.changes import Changes
from yurt.scheduler.reconcile.deployments import (
    JobDeployments,
    new_deployment,
    sort_deployments,
    succeeded,
    with_groups,
)
from yurt.scheduler.reconcile.follow_ups import FollowUpMaker
from yurt.scheduler.reconcile.group import GroupChanges, reconcile_group, stop_group
from yurt.scheduler.reconcile.group_sorting import Surroundings
from yurt.scheduler.reconcile.tainted import TaintedNodes
from yurt.scheduler.reconcile.updates import FitsInPlace

PENDING = "Deployment is pending, waiting for peer region"


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a job is reconciled by.

    `job` is None if it was purged. `allocs` are all of the job's, of any version; `tainted` holds
    those of their nodes that cannot be trusted. `deployment` is the job's newest.
    """

    evaluation: Evaluation
    job: Job | None
    allocs: Sequence[Allocation]
    tainted: TaintedNodes
    deployment: Deployment | None
    now: Nanoseconds
    find_node: Callable[[NodeID], Node | None]
    fits_in_place: FitsInPlace
    new_id: Callable[[], str]


def reconcile(situation: Situation) -> Changes:
    """Say what must change so that a service or batch job runs as it is written."""
    job = situation.job
    is_batch = situation.evaluation.type == BATCH
    deployments = sort_deployments(job, situation.deployment if not is_batch else None)
    by_group = _by_group(situation)
    if job is None or job.stop:
        stopped = {
            name: stop_group(
                [alloc for alloc in allocs if not alloc.is_terminal], situation.tainted, situation.now
            )
            for name, allocs in by_group.items()
        }
        return _merged(stopped, deployments.updates, None, None)
    surroundings = Surroundings(
        job=job,
        evaluation=situation.evaluation,
        is_batch=is_batch,
        deployments=deployments,
        tainted=situation.tainted,
        all_allocs={alloc.id: alloc for alloc in situation.allocs},
        now=situation.now,
        follow_ups=FollowUpMaker(situation.evaluation, job, now=situation.now, new_id=situation.new_id),
        find_node=situation.find_node,
        fits_in_place=situation.fits_in_place,
    )
    groups = {name: reconcile_group(name, allocs, surroundings) for name, allocs in by_group.items()}
    return _with_deployment(situation, job, deployments, groups)


def _by_group(situation: Situation) -> dict[str, list[Allocation]]:
    """Allocations by group: the job's own groups, and those that only allocations still name."""
    job = situation.job
    by_group: dict[str, list[Allocation]] = {group.name: [] for group in (job.task_groups if job else ())}
    for alloc in situation.allocs:
        by_group.setdefault(alloc.task_group, []).append(alloc)
    return by_group


def _with_deployment(
    situation: Situation, job: Job, deployments: JobDeployments, groups: dict[str, GroupChanges]
) -> Changes:
    updates = [*deployments.updates]
    current, written = deployments.current, None
    states = {name: group.state for name, group in groups.items() if group.state is not None}
    if states:
        if current is None:
            priority = situation.evaluation.priority
            written = new_deployment(job, states, eval_priority=priority, new_id=situation.new_id)
        else:
            written = with_groups(current, states)
        current = written
    elif current is not None and current.is_active:
        if all(group.is_complete for group in groups.values()):
            updates.append(succeeded(current))
        elif current.status == DEPLOYMENT_INITIALIZING:
            updates.append(
                DeploymentStatusUpdate(
                    deployment_id=current.id, status=DEPLOYMENT_PENDING, status_description=PENDING
                )
            )
    return _merged(groups, tuple(updates), written, current)


def _merged(
    groups: dict[str, GroupChanges],
    deployment_updates: tuple[DeploymentStatusUpdate, ...],
    deployment: Deployment | None,
    current: Deployment | None,
) -> Changes:
    changes = list(groups.values())
    return Changes(
        place=tuple(one for group in changes for one in group.place),
        destructive=tuple(one for group in changes for one in group.destructive),
        stop=tuple(one for group in changes for one in group.stop),
        in_place=tuple(one for group in changes for one in group.in_place),
        updates=tuple(one for group in changes for one in group.updates),
        follow_ups=tuple(one for group in changes for one in group.follow_ups),
        deployment=deployment,
        deployment_updates=deployment_updates,
        current_deployment=current,
        desired={name: group.desired for name, group in groups.items()},
    )
