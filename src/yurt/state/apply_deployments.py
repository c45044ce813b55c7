"""Applying what becomes of deployments, besides what plans do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.deployment import Deployment, DeploymentStatusUpdate
from yurt.model.job import Job, JobKey
from yurt.model.times import time_text
from yurt.model.wire import AllocID, Nanoseconds
from yurt.state import entries
from yurt.state.apply_evals import upsert_evals
from yurt.state.apply_jobs import register_job
from yurt.state.deployment_counts import count_change
from yurt.state.job_status import refresh_status
from yurt.state.state import State


def apply_deployment_entry(state: State, index: int, entry: entries.DeploymentEntry) -> bool:
    """Apply one such entry; see `yurt.state.apply`. False if the deployment has ended, or is gone."""
    match entry:
        case entries.SetDeploymentStatus():
            return _set_status(state, index, entry)
        case entries.PromoteDeployment():
            return _promote(state, index, entry)
        case entries.SetAllocHealth():
            return _set_health(state, index, entry)
        case entries.DeleteDeployments():
            for deployment_id in entry.deployment_ids:
                state.deployments.delete(deployment_id, index)
            return True
        case _:
            assert_never(entry)


def _set_status(state: State, index: int, entry: entries.SetDeploymentStatus) -> bool:
    deployment = state.deployments.get(entry.update.deployment_id)
    if deployment is None or not deployment.is_active:
        return False
    if entry.progress_at is not None:
        groups = {
            name: replace(group, require_progress_by=time_text(entry.progress_at + group.progress_deadline))
            if group.progress_deadline
            else group
            for name, group in deployment.task_groups.items()
        }
        deployment = replace(deployment, task_groups=groups)
    _put_status(state, index, deployment, entry.update, entry.at)
    _roll_back(state, index, entry.rollback, entry.at)
    upsert_evals(state, index, entry.evals)
    return True


def _promote(state: State, index: int, entry: entries.PromoteDeployment) -> bool:
    deployment = state.deployments.get(entry.deployment_id)
    if deployment is None or not deployment.is_active:
        return False
    groups = dict(deployment.task_groups)
    for name in entry.groups:
        group = groups.get(name)
        if group is None:
            continue
        by = group.require_progress_by
        if by is not None and group.progress_deadline:
            by = time_text(entry.at + group.progress_deadline)
        groups[name] = replace(group, promoted=True, require_progress_by=by)
        _clear_canaries(state, index, group.placed_canaries or ())
    changed = replace(
        deployment,
        task_groups=groups,
        status_description=entry.description,
        modify_index=index,
        modify_time=entry.at,
    )
    state.deployments.put(deployment.id, changed, index)
    upsert_evals(state, index, entry.evals)
    return True


def _clear_canaries(state: State, index: int, alloc_ids: Iterable[str]) -> None:
    for alloc_id in alloc_ids:
        alloc = state.allocs.get(AllocID(alloc_id))
        status = alloc.deployment_status if alloc is not None else None
        if alloc is None or status is None or not status.canary or alloc.is_terminal:
            continue
        changed = replace(
            alloc,
            deployment_status=replace(status, canary=False, modify_index=index),
            modify_index=index,
            alloc_modify_index=index,
        )
        state.allocs.put(alloc.id, changed, index)


def _set_health(state: State, index: int, entry: entries.SetAllocHealth) -> bool:
    deployment = state.deployments.get(entry.deployment_id)
    if deployment is None or not deployment.is_active:
        return False
    for healthy, alloc_ids in ((True, entry.healthy), (False, entry.unhealthy)):
        for alloc_id in alloc_ids:
            _judge(state, index, alloc_id, healthy=healthy, at=entry.at)
    if entry.update is not None:
        _put_status(state, index, state.deployments[deployment.id], entry.update, entry.at)
    _roll_back(state, index, entry.rollback, entry.at)
    upsert_evals(state, index, entry.evals)
    return True


def _judge(state: State, index: int, alloc_id: AllocID, *, healthy: bool, at: Nanoseconds) -> None:
    old = state.allocs.get(alloc_id)
    if old is None:
        return
    status = old.deployment_status or AllocDeploymentStatus()
    new = replace(
        old,
        deployment_status=replace(status, healthy=healthy, timestamp=time_text(at), modify_index=index),
        modify_index=index,
        alloc_modify_index=index,
    )
    state.allocs.put(new.id, new, index)
    count_change(state, old, new, index=index, at=at)


def _put_status(
    state: State, index: int, deployment: Deployment, update: DeploymentStatusUpdate, at: Nanoseconds
) -> None:
    changed = replace(
        deployment,
        status=update.status,
        status_description=update.status_description,
        modify_index=index,
        modify_time=at,
    )
    state.deployments.put(changed.id, changed, index)
    refresh_status(state, JobKey(changed.namespace, changed.job_id), index)


def _roll_back(state: State, index: int, job: Job | None, at: Nanoseconds) -> None:
    """Make an earlier version the current one again, under a new number; it stays known to be good."""
    if job is None:
        return
    # Deployments do not know how many versions are to be kept: none goes before the next registration.
    kept = len(state.jobs.versions.get(job.key, ())) + 1
    outcome = register_job(state, index, entries.RegisterJob(at=at, job=job, versions_kept=kept))
    if outcome.job is not None and outcome.is_changed:
        state.jobs.put_version(replace(outcome.job, stable=job.stable), index)
