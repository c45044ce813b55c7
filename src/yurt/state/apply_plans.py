"""Applying plans: new allocations, stops, updates, preemptions, deployments."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec.structs import replace

from yurt.model.alloc import (
    CLIENT_LOST,
    CLIENT_UNKNOWN,
    DESIRED_EVICT,
    DESIRED_STOP,
    Allocation,
)
from yurt.model.deployment import (
    DEPLOYMENT_SUCCESSFUL,
    Deployment,
    DeploymentState,
    DeploymentStatusUpdate,
)
from yurt.model.job import Job, JobKey
from yurt.model.plan import JobRef, Placements, Preemption, StopAllocs, UpdateAlloc
from yurt.model.wire import AllocID, Nanoseconds
from yurt.state.apply_evals import store_eval
from yurt.state.apply_volume_claims import claim_volumes
from yurt.state.deployment_counts import count_change, count_new
from yurt.state.entries import CommitPlan
from yurt.state.job_status import count_move, count_placed, refresh_status
from yurt.state.state import State

_T = TypeVar("_T")


class PlanOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How many allocations a plan placed; fewer than planned if a job went away meanwhile."""

    placed: int


def commit_plan(state: State, index: int, entry: CommitPlan) -> PlanOutcome:
    """Store what the applier accepted of a plan, all of it at one index."""
    changes = entry.changes
    jobs: dict[JobKey, None] = {}
    if changes.deployment is not None:
        _store_deployment(state, index, changes.deployment, entry.at)
    for update in changes.deployment_updates:
        _update_deployment(state, index, update, entry.at)
    for stop in changes.stops:
        _stop(state, index, entry.at, stop, jobs)
    for preemption in changes.preemptions:
        _preempt(state, index, entry.at, preemption, jobs)
    for change in changes.updates:
        _update(state, index, entry.at, change, jobs)
    placed = 0
    for placements in changes.placements:
        placed += _place(state, index, entry.at, placements, jobs)
    for evaluation in entry.evals:
        store_eval(state, index, evaluation)
        jobs[JobKey(evaluation.namespace, evaluation.job_id)] = None
    # Later evaluations of the job wait for this index before they look at State.
    planner = state.evals.get(entry.eval_id)
    if planner is not None:
        state.evals.put(planner.id, replace(planner, modify_index=index), index)
    for key in jobs:
        refresh_status(state, key, index)
    return PlanOutcome(placed=placed)


def _place(
    state: State, index: int, at: Nanoseconds, placements: Placements, jobs: dict[JobKey, None]
) -> int:
    job = state.jobs.version(placements.job)
    current = state.jobs.get(placements.job.key)
    if job is None or current is None or current.stop:
        return 0
    if placements.details:
        return _place_one_by_one(state, index, at, placements, job, jobs)
    nodes = state.nodes
    fresh = []
    for alloc_id, name_index, node_id in zip(
        placements.ids, placements.name_indexes, placements.node_ids, strict=True
    ):
        node = nodes.get(node_id)
        if node is None:
            continue
        fresh.append(
            Allocation(
                id=alloc_id,
                job=job,
                task_group=placements.task_group,
                name_index=name_index,
                node_id=node.id,
                node_name=node.name,
                eval_id=placements.eval_id,
                resources=placements.resources,
                metrics=placements.metrics,
                deployment_id=placements.deployment_id,
                create_index=index,
                modify_index=index,
                alloc_modify_index=index,
                create_time=at,
                modify_time=at,
            )
        )
    state.allocs.put_new(fresh, index)
    _after_placing(state, index, at, placements, job, fresh)
    jobs[job.key] = None
    return len(fresh)


def _place_one_by_one(
    state: State,
    index: int,
    at: Nanoseconds,
    placements: Placements,
    job: Job,
    jobs: dict[JobKey, None],
) -> int:
    fresh = []
    for position, alloc_id in enumerate(placements.ids):
        node = state.nodes.get(placements.node_ids[position])
        if node is None:
            continue
        alloc = Allocation(
            id=alloc_id,
            job=job,
            task_group=placements.task_group,
            name_index=placements.name_indexes[position],
            node_id=node.id,
            node_name=node.name,
            eval_id=placements.eval_id,
            resources=placements.resources,
            metrics=placements.metrics,
            deployment_id=placements.deployment_id,
            create_index=index,
            modify_index=index,
            alloc_modify_index=index,
            create_time=at,
            modify_time=at,
        )
        detail = placements.details.get(position)
        if detail is not None:
            status = detail.deployment_status
            alloc = replace(
                alloc,
                resources=detail.resources or alloc.resources,
                metrics=detail.metrics if detail.metrics is not None else alloc.metrics,
                previous_allocation=detail.previous_allocation,
                deployment_status=replace(status, modify_index=index) if status is not None else None,
                reschedule_tracker=detail.reschedule_tracker,
                preempted_allocations=detail.preempted_allocations,
                desired_description=detail.desired_description,
            )
        state.allocs.put(alloc.id, alloc, index)
        if alloc.previous_allocation:
            _link_next(state, index, AllocID(alloc.previous_allocation), alloc.id)
        fresh.append(alloc)
    _after_placing(state, index, at, placements, job, fresh)
    jobs[job.key] = None
    return len(fresh)


def _after_placing(
    state: State,
    index: int,
    at: Nanoseconds,
    placements: Placements,
    job: Job,
    fresh: list[Allocation],
) -> None:
    if not fresh:
        return
    claim_volumes(state, index, job, placements.task_group, fresh)
    count_placed(state, job, placements.task_group, len(fresh), index)
    count_new(state, fresh, index=index, at=at)


def _link_next(state: State, index: int, previous_id: AllocID, next_id: AllocID) -> None:
    previous = state.allocs.get(previous_id)
    if previous is not None:
        state.allocs.put(previous_id, replace(previous, next_allocation=next_id, modify_index=index), index)


def _stop(state: State, index: int, at: Nanoseconds, stop: StopAllocs, jobs: dict[JobKey, None]) -> None:
    for alloc_id in stop.ids:
        old = state.allocs.get(alloc_id)
        if old is None:
            continue
        new = replace(
            old,
            desired_status=DESIRED_STOP,
            desired_description=stop.description,
            client_status=stop.client_status or old.client_status,
            followup_eval_id=stop.followup_eval_id or old.followup_eval_id,
            alloc_states=(),
            modify_index=index,
            alloc_modify_index=index,
            modify_time=at,
        )
        _put_changed(state, index, old, new, jobs)


def _preempt(
    state: State, index: int, at: Nanoseconds, preemption: Preemption, jobs: dict[JobKey, None]
) -> None:
    old = state.allocs.get(preemption.id)
    if old is None:
        return
    new = replace(
        old,
        desired_status=DESIRED_EVICT,
        desired_description=f"Preempted by alloc ID {preemption.by}",
        preempted_by_allocation=preemption.by,
        modify_index=index,
        alloc_modify_index=index,
        modify_time=at,
    )
    _put_changed(state, index, old, new, jobs)


def _update(state: State, index: int, at: Nanoseconds, change: UpdateAlloc, jobs: dict[JobKey, None]) -> None:
    old = state.allocs.get(change.id)
    if old is None:
        return
    job = state.jobs.version(change.job) if change.job is not None else None
    status = change.deployment_status
    client_status = old.client_status
    if change.client_status in (CLIENT_LOST, CLIENT_UNKNOWN):
        client_status = change.client_status
    new = replace(
        old,
        job=job or old.job,
        eval_id=_or(change.eval_id, old.eval_id),
        resources=change.resources or old.resources,
        metrics=_or(change.metrics, old.metrics),
        desired_description=_or(change.desired_description, old.desired_description),
        client_status=client_status,
        client_description=_or(change.client_description, old.client_description),
        alloc_states=_or(change.alloc_states, old.alloc_states),
        followup_eval_id=_or(change.followup_eval_id, old.followup_eval_id),
        deployment_id=_or(change.deployment_id, old.deployment_id),
        deployment_status=(
            None
            if change.clear_deployment_status
            else replace(status, modify_index=index)
            if status is not None
            else old.deployment_status
        ),
        reschedule_tracker=change.reschedule_tracker or old.reschedule_tracker,
        modify_index=index,
        alloc_modify_index=index,
        modify_time=at,
    )
    _put_changed(state, index, old, new, jobs)
    if new.previous_allocation:
        _link_next(state, index, AllocID(new.previous_allocation), new.id)


def _put_changed(
    state: State, index: int, old: Allocation, new: Allocation, jobs: dict[JobKey, None]
) -> None:
    state.allocs.put(new.id, new, index)
    count_move(state, old, new, index)
    count_change(state, old, new, index=index, at=new.modify_time)
    jobs[new.job_key] = None


def _store_deployment(state: State, index: int, deployment: Deployment, at: Nanoseconds) -> None:
    old = state.deployments.get(deployment.id)
    if old is None:
        stored = replace(deployment, create_index=index, modify_index=index, create_time=at, modify_time=at)
    else:
        # Counters are State's own; a plan knows only what it wants.
        groups = dict(old.task_groups)
        for name, wanted in deployment.task_groups.items():
            kept = old.task_groups.get(name)
            groups[name] = wanted if kept is None else _with_counters(wanted, kept)
        stored = replace(
            deployment,
            task_groups=groups,
            create_index=old.create_index,
            create_time=old.create_time,
            modify_index=index,
            modify_time=at,
        )
    state.deployments.put(stored.id, stored, index)


def _with_counters(wanted: DeploymentState, kept: DeploymentState) -> DeploymentState:
    return replace(
        wanted,
        placed_allocs=kept.placed_allocs,
        healthy_allocs=kept.healthy_allocs,
        unhealthy_allocs=kept.unhealthy_allocs,
        require_progress_by=kept.require_progress_by,
        placed_canaries=kept.placed_canaries,
        promoted=kept.promoted or wanted.promoted,
    )


def _update_deployment(state: State, index: int, update: DeploymentStatusUpdate, at: Nanoseconds) -> None:
    """Store a deployment's new status, unless it has ended; a success makes its job version stable."""
    old = state.deployments.get(update.deployment_id)
    if old is None or not old.is_active:
        return
    new = replace(
        old,
        status=update.status,
        status_description=update.status_description,
        modify_index=index,
        modify_time=at,
    )
    state.deployments.put(old.id, new, index)
    if new.status == DEPLOYMENT_SUCCESSFUL:
        job = state.jobs.version(JobRef(new.namespace, new.job_id, new.job_create_index, new.job_version))
        if job is not None:
            state.jobs.put_version(replace(job, stable=True, modify_index=index), index)


def _or(new: _T | None, old: _T) -> _T:
    return old if new is None else new
