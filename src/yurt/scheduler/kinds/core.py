"""Garbage collection: what nobody needs any more, found in State."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

import msgspec

from yurt.model.alloc import CLIENT_FAILED, CLIENT_RUNNING, DESIRED_STOP, Allocation
from yurt.model.evaluation import Evaluation
from yurt.model.job import BATCH, CORE, JOB_DEAD, SYSBATCH, Job, JobKey
from yurt.model.node import NODE_DOWN
from yurt.model.times import HOUR_NS, SECOND_NS
from yurt.model.wire import AllocID, EvalID, Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import reschedule_policy
from yurt.scheduler.reconcile.reschedule_delay import is_enabled
from yurt.state.entries import DeleteDeployments, DeleteEvals, DeregisterJob, DeregisterNodes, Entry
from yurt.state.state import State

IDS_PER_ENTRY_MAX = 7281

_T = TypeVar("_T")


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """How old things must be before they are collected."""

    evals: Nanoseconds = HOUR_NS
    batch_evals: Nanoseconds = 24 * HOUR_NS
    jobs: Nanoseconds = 4 * HOUR_NS
    deployments: Nanoseconds = HOUR_NS
    nodes: Nanoseconds = 24 * HOUR_NS
    acl_tokens: Nanoseconds = HOUR_NS


AT_ONCE = Thresholds(evals=0, batch_evals=0, jobs=0, deployments=0, nodes=0, acl_tokens=0)
"""What an operator asks for who wants everything gone that can go."""


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """Evaluations and allocations that can go."""

    evals: list[EvalID]
    allocs: list[AllocID]


def collect_jobs(state: State, *, now: Nanoseconds, thresholds: Thresholds) -> list[tuple[Entry, ...]]:
    """Forget jobs that are done, with all that belongs to them. Each item is to be proposed as one unit."""
    cutoff = now - thresholds.jobs
    units: list[tuple[Entry, ...]] = []
    for job in state.jobs:
        if job.submit_time > cutoff or not _is_over(job):
            continue
        if any(version.version_tag is not None for version in state.jobs.versions[job.key]):
            continue
        evals = state.evals.of_job(job.key)
        if not all(one.is_terminal and one.modify_time <= cutoff for one in evals):
            continue
        if all(_can_go(alloc, job, cutoff, now) for alloc in state.allocs.of_job(job.key)):
            purge = DeregisterJob(at=now, namespace=job.namespace, job_id=job.id, purge=True)
            units.append((DeleteEvals(at=now, eval_ids=tuple(one.id for one in evals)), purge))
    return units


def jobs_with_old_evals(state: State, *, now: Nanoseconds, thresholds: Thresholds) -> list[JobKey]:
    """The jobs with evaluations that are done and old enough."""
    keys = {
        JobKey(one.namespace, one.job_id): None
        for one in state.evals
        if _is_old(one, now, thresholds) and one.type != CORE
    }
    return list(keys)


def collect_evals_of(state: State, key: JobKey, *, now: Nanoseconds, thresholds: Thresholds) -> Collected:
    """Find the evaluations of a job, which may be gone, that can go, and the allocations that can."""
    job = state.jobs.get(key)
    by_eval: dict[EvalID, list[Allocation]] = {}
    for alloc in state.allocs.of_job(key):
        by_eval.setdefault(alloc.eval_id, []).append(alloc)
    found = Collected(evals=[], allocs=[])
    for evaluation in state.evals.of_job(key):
        if not _is_old(evaluation, now, thresholds):
            continue
        allocs = by_eval.get(evaluation.id, [])
        gone = _collectable(evaluation, job, allocs, now - _age(evaluation, thresholds), now)
        found.allocs.extend(alloc.id for alloc in gone)
        if len(gone) == len(allocs):
            found.evals.append(evaluation.id)
    return found


def deletions(found: Iterable[Collected], *, now: Nanoseconds) -> Iterator[Entry]:
    """Bring what was found into entries of bounded size, allocations first."""
    everything = list(found)
    for alloc_ids in _parts(alloc_id for one in everything for alloc_id in one.allocs):
        yield DeleteEvals(at=now, alloc_ids=alloc_ids)
    for eval_ids in _parts(eval_id for one in everything for eval_id in one.evals):
        yield DeleteEvals(at=now, eval_ids=eval_ids)


def collect_deployments(state: State, *, now: Nanoseconds, thresholds: Thresholds) -> list[Entry]:
    """Forget deployments that ended and that no allocation belongs to any more."""
    cutoff = now - thresholds.deployments
    old = [d for d in state.deployments if not d.is_active and d.modify_time <= cutoff]
    if not old:
        return []
    in_use = {
        alloc.deployment_id
        for deployment in old
        for alloc in state.allocs.of_job(JobKey(deployment.namespace, deployment.job_id))
        if not alloc.is_terminal
    }
    ids = [deployment.id for deployment in old if deployment.id not in in_use]
    return [DeleteDeployments(at=now, deployment_ids=part) for part in _parts(ids)]


def collect_nodes(state: State, *, now: Nanoseconds, thresholds: Thresholds) -> list[Entry]:
    """Forget nodes that are long gone."""
    cutoff_s = (now - thresholds.nodes) // SECOND_NS
    ids = [
        node.id
        for node in state.nodes
        if node.status == NODE_DOWN
        and node.status_updated_at <= cutoff_s
        and all(alloc.is_terminal for alloc in state.allocs.of_node(node.id))
    ]
    return [DeregisterNodes(at=now, node_ids=part) for part in _parts(ids)]


def _is_over(job: Job) -> bool:
    if job.is_periodic or job.is_parameterized:
        return job.stop
    return job.status == JOB_DEAD and (job.stop or job.type in (BATCH, SYSBATCH))


def _age(evaluation: Evaluation, thresholds: Thresholds) -> Nanoseconds:
    return thresholds.batch_evals if evaluation.type == BATCH else thresholds.evals


def _is_old(evaluation: Evaluation, now: Nanoseconds, thresholds: Thresholds) -> bool:
    return evaluation.is_terminal and evaluation.modify_time <= now - _age(evaluation, thresholds)


def _collectable(
    evaluation: Evaluation,
    job: Job | None,
    allocs: Iterable[Allocation],
    cutoff: Nanoseconds,
    now: Nanoseconds,
) -> list[Allocation]:
    """The allocations of an evaluation that can go."""
    if evaluation.type == BATCH and job is not None and not (job.status == JOB_DEAD and job.stop):
        # The results of a batch job say that it need not run again: only those of older versions go.
        return [
            alloc
            for alloc in allocs
            if alloc.create_index < job.job_modify_index and alloc.modify_time < cutoff and alloc.is_terminal
        ]
    return [alloc for alloc in allocs if _can_go(alloc, job, cutoff, now)]


def _can_go(alloc: Allocation, job: Job | None, cutoff: Nanoseconds, now: Nanoseconds) -> bool:
    if not alloc.is_terminal or alloc.modify_time > cutoff or alloc.client_status == CLIENT_RUNNING:
        return False
    if job is None or job.stop or job.status == JOB_DEAD:
        return True
    if alloc.desired_status == DESIRED_STOP or alloc.client_status != CLIENT_FAILED or alloc.next_allocation:
        return True
    policy = reschedule_policy(alloc)
    if policy is None or not is_enabled(policy):
        return True
    events = (alloc.reschedule_tracker.events or ()) if alloc.reschedule_tracker is not None else ()
    if policy.unlimited or not events:
        return False
    # What has used up its attempts is looked at again once they count no more.
    return now - events[-1].reschedule_time > policy.interval


def _parts(items: Iterable[_T]) -> Iterator[tuple[_T, ...]]:
    remaining = iter(items)
    while part := tuple(islice(remaining, IDS_PER_ENTRY_MAX)):
        yield part
