"""Job status and job summary: what follows from a job's allocations, evaluations and deployments."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_PENDING,
    CLIENT_RUNNING,
    CLIENT_UNKNOWN,
    Allocation,
)
from yurt.model.job import JOB_DEAD, JOB_PENDING, JOB_RUNNING, SYSTEM, Job, JobKey
from yurt.model.job_summary import JobChildrenSummary, JobSummary, TaskGroupSummary
from yurt.model.wire import JobID
from yurt.state.state import State

_BIN = {
    CLIENT_PENDING: "starting",
    CLIENT_RUNNING: "running",
    CLIENT_COMPLETE: "complete",
    CLIENT_FAILED: "failed",
    CLIENT_LOST: "lost",
    CLIENT_UNKNOWN: "unknown",
}
# Failed and complete are totals: a replaced failure stays counted.
_TOTALS = frozenset((CLIENT_COMPLETE, CLIENT_FAILED))


def derive_status(state: State, job: Job, *, evals_deleted: bool = False) -> str:
    """Say what a job's status is by what State holds of it."""
    if job.type == SYSTEM or job.is_periodic or job.is_parameterized:
        return JOB_DEAD if job.stop else JOB_RUNNING
    key = job.key
    if state.deployments.has_active(key) or state.allocs.live_of_job(key):
        return JOB_RUNNING
    if state.evals.has_open(key):
        return JOB_PENDING
    if evals_deleted or job.stop or state.evals.has_any(key):
        return JOB_DEAD
    return JOB_PENDING


def refresh_status(state: State, key: JobKey, index: int, *, evals_deleted: bool = False) -> None:
    """Bring a stored job's status up to date, and its parent's count of children with it."""
    job = state.jobs.get(key)
    if job is None:
        return
    status = derive_status(state, job, evals_deleted=evals_deleted)
    if status == job.status:
        return
    state.jobs.put(key, replace(job, status=status, modify_index=index), index)
    move_child(state, job, job.status, status, index)


def move_child(state: State, child: Job, old: str, new: str, index: int) -> None:
    """Move a child from one bin of its parent's summary to another; an empty name is no bin."""
    if not child.parent_id:
        return
    parent = JobKey(child.namespace, JobID(child.parent_id))
    summary = state.job_summaries.get(parent)
    if summary is None or summary.children is None:
        return
    counts = {name: getattr(summary.children, name) for name in (JOB_PENDING, JOB_RUNNING, JOB_DEAD)}
    if old in counts:
        counts[old] = max(0, counts[old] - 1)
    if new in counts:
        counts[new] += 1
    state.job_summaries.put(
        parent,
        replace(summary, children=replace(summary.children, **counts), modify_index=index),
        index,
    )


def ensure_summary(state: State, job: Job, index: int) -> None:
    """Give a job a summary with a row for each of its groups; rows of removed groups stay."""
    summary = state.job_summaries.get(job.key)
    if summary is None:
        summary = JobSummary(job_id=job.id, namespace=job.namespace, create_index=index)
    missing = {
        group.name: TaskGroupSummary() for group in job.task_groups if group.name not in summary.summary
    }
    if missing or summary.modify_index == 0:
        summary = replace(summary, summary={**summary.summary, **missing}, modify_index=index)
        state.job_summaries.put(job.key, summary, index)


def count_placed(state: State, job: Job, group: str, number: int, index: int) -> None:
    """Count fresh allocations: so many more are starting, so many fewer are queued."""
    summary = state.job_summaries.get(job.key)
    row = summary.summary.get(group) if summary is not None else None
    if summary is None or row is None:
        return
    row = replace(row, starting=row.starting + number, queued=max(0, row.queued - number))
    _put_rows(state, job.key, summary, {group: row}, index)


def count_move(state: State, old: Allocation, new: Allocation, index: int) -> None:
    """Count a change of an allocation's client status."""
    if old.client_status == new.client_status:
        return
    summary = state.job_summaries.get(new.job_key)
    row = summary.summary.get(new.task_group) if summary is not None else None
    if summary is None or row is None:
        return
    current = state.jobs.get(new.job_key)
    if current is None or current.create_index != new.job.create_index:
        return  # an allocation of an earlier job of the same name
    counts: dict[str, int] = {}
    arriving = _BIN[new.client_status]
    counts[arriving] = getattr(row, arriving) + 1
    if old.client_status not in _TOTALS:
        leaving = _BIN[old.client_status]
        counts[leaving] = max(0, getattr(row, leaving) - 1)
    _put_rows(state, new.job_key, summary, {new.task_group: replace(row, **counts)}, index)


def set_queued(state: State, key: JobKey, queued: Mapping[str, int], index: int) -> None:
    """Take over an evaluation's counts of what it could not place."""
    summary = state.job_summaries.get(key)
    if summary is None:
        return
    changed = {
        group: replace(row, queued=queued[group])
        for group, row in summary.summary.items()
        if group in queued and row.queued != queued[group]
    }
    if changed:
        _put_rows(state, key, summary, changed, index)


def reconcile_summaries(state: State, index: int) -> None:
    """Count the allocations and children of every job anew; what is queued cannot be counted and stays."""
    for job in state.jobs:
        old = state.job_summaries.get(job.key)
        counts: dict[str, dict[str, int]] = {group.name: {} for group in job.task_groups}
        for alloc in state.allocs.of_job(job.key):
            if alloc.job.create_index == job.create_index:
                bins = counts.setdefault(alloc.task_group, {})
                name = _BIN[alloc.client_status]
                bins[name] = bins.get(name, 0) + 1
        queued = {group: row.queued for group, row in old.summary.items()} if old is not None else {}
        children = [child.status for child in state.jobs.children_of(job.key)]
        counted = JobSummary(
            job_id=job.id,
            namespace=job.namespace,
            summary={
                group: TaskGroupSummary(queued=queued.get(group, 0), **bins) for group, bins in counts.items()
            },
            children=JobChildrenSummary(
                pending=children.count(JOB_PENDING),
                running=children.count(JOB_RUNNING),
                dead=children.count(JOB_DEAD),
            ),
            create_index=old.create_index if old is not None else index,
            modify_index=old.modify_index if old is not None else index,
        )
        if counted != old:
            state.job_summaries.put(job.key, replace(counted, modify_index=index), index)


def _put_rows(
    state: State, key: JobKey, summary: JobSummary, rows: Mapping[str, TaskGroupSummary], index: int
) -> None:
    state.job_summaries.put(
        key, replace(summary, summary={**summary.summary, **rows}, modify_index=index), index
    )
