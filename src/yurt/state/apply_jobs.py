"""Applying changes of jobs."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from yurt.model.evaluation import EVAL_COMPLETE, Evaluation
from yurt.model.job import JOB_DEAD, JOB_PENDING, JOB_RUNNING, Job, JobKey
from yurt.model.job_versions import same_spec
from yurt.model.periodic_launch import PeriodicLaunch
from yurt.model.wire import JobID
from yurt.state.apply_evals import store_eval
from yurt.state.apply_job_versions import add_scaling_event
from yurt.state.apply_volume_claims import drop_claims
from yurt.state.entries import DeregisterJob, RecordPeriodicLaunch, RegisterJob
from yurt.state.job_status import derive_status, ensure_summary, move_child, refresh_status
from yurt.state.state import State
from yurt.state.submissions import SubmissionKey


class JobOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of registering or deregistering a job.

    `job` is the stored job, or the one that was removed; None if there was none. With `conflict`
    the enforced index did not match, nothing changed, and `job` is what is stored.
    """

    job: Job | None
    conflict: bool = False
    is_changed: bool = True


def register_job(state: State, index: int, entry: RegisterJob) -> JobOutcome:
    """Store a job as a new version, unless its specification is the stored one's."""
    key = entry.job.key
    old = state.jobs.get(key)
    if entry.enforce_index is not None:
        found = old.job_modify_index if old is not None else 0
        if found != entry.enforce_index:
            return JobOutcome(job=old, conflict=True)
    if old is not None and not entry.is_new_version and same_spec(old, entry.job):
        # Of no index in particular, since nothing changed; as in Nomad.
        _store_evals(state, index, entry.evals, old, as_of=0)
        return JobOutcome(job=old, is_changed=False)
    job = replace(
        entry.job,
        # A new job starts with the version it was sent with, as in Nomad.
        version=old.version + 1 if old is not None else entry.job.version,
        create_index=old.create_index if old is not None else index,
        modify_index=index,
        job_modify_index=index,
        status=old.status if old is not None else "",
        stable=False,
        status_description="",
    )
    _store_job(state, index, job, old, versions_kept=entry.versions_kept)
    if entry.submission is not None:
        kept = replace(entry.submission, version=job.version, job_modify_index=index)
        state.submissions.put(SubmissionKey(key, job.version), kept, index)
    state.submissions.keep_only(key, {kept.version for kept in state.jobs.versions[key]}, index)
    if entry.scaling is not None:
        add_scaling_event(state, index, key, entry.scaling.group, entry.scaling.event)
    _store_evals(state, index, entry.evals, job, as_of=index)
    return JobOutcome(job=state.jobs[key])


def deregister_job(state: State, index: int, entry: DeregisterJob) -> JobOutcome:
    """Stop a job, or forget it with everything that belongs to it."""
    key = JobKey(entry.namespace, JobID(entry.job_id))
    old = state.jobs.get(key)
    if old is None:
        return JobOutcome(job=None)
    if entry.purge:
        _purge(state, index, old)
        _store_evals(state, index, entry.evals, None, as_of=index)
        return JobOutcome(job=old)
    groups = tuple(
        replace(group, scaling=replace(group.scaling, enabled=False)) if group.scaling is not None else group
        for group in old.task_groups
    )
    job = replace(
        old,
        stop=True,
        task_groups=groups,
        version=old.version + 1,
        modify_index=index,
        job_modify_index=index,
        version_tag=None,
        submit_time=entry.at,
    )
    _store_job(state, index, job, old, versions_kept=entry.versions_kept)
    _store_evals(state, index, entry.evals, job, as_of=index)
    return JobOutcome(job=state.jobs[key])


def record_periodic_launch(state: State, index: int, entry: RecordPeriodicLaunch) -> None:
    """Remember the last time that a periodic job launched a child for."""
    key = JobKey(entry.namespace, JobID(entry.job_id))
    if key in state.jobs:
        launch = PeriodicLaunch(namespace=key.namespace, id=key.id, launch=entry.launch, modify_index=index)
        state.periodic_launches.put(key, launch, index)


def _store_job(state: State, index: int, job: Job, old: Job | None, *, versions_kept: int) -> None:
    status = derive_status(state, job)
    if old is None and status == JOB_DEAD and not job.stop:
        status = JOB_PENDING  # evaluations of an earlier, purged namesake do not make it dead
    job = state.scaling_policies.take_from(replace(job, status=status), index)
    state.jobs.put(job.key, job, index, versions_kept=versions_kept)
    ensure_summary(state, job, index)
    move_child(state, job, old.status if old is not None else "", status, index)


def _store_evals(
    state: State, index: int, evals: tuple[Evaluation, ...], job: Job | None, *, as_of: int
) -> None:
    for evaluation in evals:
        store_eval(state, index, replace(evaluation, job_modify_index=as_of))
    if evals and job is not None:
        refresh_status(state, job.key, index)


def _purge(state: State, index: int, job: Job) -> None:
    key = job.key
    for alloc in state.allocs.of_job(key):
        state.allocs.delete(alloc.id, index)
        state.news.freed_nodes[alloc.node_id] = None
    for deployment in state.deployments.of_job(key):
        state.deployments.delete(deployment.id, index)
    for evaluation in state.evals.open_of_job(key):
        ended = replace(evaluation, status=EVAL_COMPLETE, modify_index=index)
        state.evals.put(ended.id, ended, index)
        state.news.evals.append(ended)
    state.job_summaries.delete(key, index)
    state.periodic_launches.delete(key, index)
    state.scaling_policies.drop_job(key, index)
    state.scaling_events.delete(key, index)
    state.submissions.keep_only(key, set(), index)
    drop_claims(state, index, job=key)
    state.jobs.delete(key, index)
    if job.status in (JOB_PENDING, JOB_RUNNING):
        move_child(state, job, job.status, JOB_DEAD, index)
