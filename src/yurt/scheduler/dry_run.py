"""Dry runs: what would happen if a job were registered."""

from __future__ import annotations

from functools import partial
from random import Random

import msgspec
from msgspec.structs import replace

from yurt.model.alloc_metric import AllocMetric
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_JOB_REGISTER, Evaluation
from yurt.model.job import SYSBATCH, SYSTEM, Job
from yurt.model.job_versions import same_spec
from yurt.model.periodic import is_periodic_active, next_launch
from yurt.model.plan_annotations import PlanAnnotations
from yurt.model.times import time_text
from yurt.model.wire import AllocID, EvalID, Nanoseconds, Time
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.diff.annotate import annotated
from yurt.scheduler.diff.job_diff import job_diff
from yurt.scheduler.diff.types import JobDiff
from yurt.scheduler.ids import new_id
from yurt.scheduler.kinds import service, system
from yurt.scheduler.view import View
from yurt.state.state import State


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """What registering a job would lead to. `preempted` are the allocations it would displace."""

    annotations: PlanAnnotations
    job_modify_index: int
    failed_tg_allocs: dict[str, AllocMetric] | None = None
    created_evals: tuple[Evaluation, ...] | None = None
    diff: JobDiff | None = None
    next_periodic_launch: Time = None
    preempted: tuple[AllocID, ...] = ()


def dry_run(state: State, job: Job, *, now: Nanoseconds, rng: Random, with_diff: bool) -> DryRun:
    """Schedule a canonical, valid job as if it were registered now. State does not change."""
    existing = state.jobs.get(job.key)
    submitted = _as_registered(state, existing, job)
    attempt = _schedule(state.with_job(submitted), submitted, now=now, rng=rng)
    annotations = attempt.evaluation.plan_annotations or PlanAnnotations()
    diff = None
    if with_diff:
        diff = annotated(job_diff(existing, submitted), annotations.desired_tg_updates or {})
    plan = attempt.plan
    launch = next_launch(submitted, now) if is_periodic_active(submitted) else None
    return DryRun(
        annotations=annotations,
        job_modify_index=existing.job_modify_index if existing is not None else 0,
        failed_tg_allocs=attempt.evaluation.failed_tg_allocs,
        created_evals=(*attempt.follow_ups, *attempt.new_evals) or None,
        diff=diff,
        next_periodic_launch=time_text(launch) if launch is not None else None,
        preempted=tuple(one.id for one in plan.changes.preemptions) if plan is not None else (),
    )


def _as_registered(state: State, existing: Job | None, job: Job) -> Job:
    """The job as it would be stored."""
    if existing is not None and same_spec(existing, job):
        return existing
    index = state.index + 1
    return replace(
        job,
        version=existing.version + 1 if existing is not None else 0,
        create_index=existing.create_index if existing is not None else index,
        modify_index=index,
        job_modify_index=index,
        status=existing.status if existing is not None else "",
        stable=False,
    )


def _schedule(state: State, job: Job, *, now: Nanoseconds, rng: Random) -> Attempt:
    evaluation = Evaluation(
        id=EvalID(new_id(rng)),
        namespace=job.namespace,
        priority=job.priority,
        type=job.type,
        triggered_by=TRIGGER_JOB_REGISTER,
        job_id=job.id,
        job_modify_index=job.job_modify_index,
        status=EVAL_PENDING,
        annotate_plan=True,
        create_time=now,
        modify_time=now,
    )
    # Nothing is submitted, so nothing has to be placed in slices.
    everything = partial(service.attempt, placements_max=sum(group.count for group in job.task_groups))
    schedule = system.attempt if job.type in (SYSTEM, SYSBATCH) else everything
    return schedule(View(state), evaluation, now=now, rng=rng)
