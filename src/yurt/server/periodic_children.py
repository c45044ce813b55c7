"""Children of periodic jobs: when they are due, and what they are."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from yurt.model.evaluation import EVAL_PENDING, TRIGGER_PERIODIC_JOB, Evaluation
from yurt.model.job import Job, JobKey
from yurt.model.times import SECOND_NS
from yurt.model.wire import EvalID, JobID, Nanoseconds
from yurt.state.entries import Entry, RecordPeriodicLaunch, RegisterJob
from yurt.state.state import State

LAUNCH_SUFFIX = "/periodic-"


def has_live_children(state: State, job: Job) -> bool:
    """Whether a child that a periodic job launched is still at work."""
    prefix = f"{job.id}{LAUNCH_SUFFIX}"
    return any(
        child.id.startswith(prefix)
        and (state.evals.has_open(child.key) or state.allocs.live_of_job(child.key))
        for child in state.jobs.children_of(job.key)
    )


def launch_entries(
    job: Job, launch: Nanoseconds, *, now: Nanoseconds, new_id: Callable[[], str]
) -> tuple[Entry, ...]:
    """Launch a child for one time: to be proposed as one unit."""
    name = f"{job.id}{LAUNCH_SUFFIX}{launch // SECOND_NS}"
    child = replace(
        job,
        id=JobID(name),
        name=name,
        parent_id=job.id,
        periodic=None,
        status="",
        status_description="",
        stable=False,
        version=0,
        version_tag=None,
        submit_time=now,
        create_index=0,
        modify_index=0,
        job_modify_index=0,
    )
    evaluation = Evaluation(
        id=EvalID(new_id()),
        namespace=job.namespace,
        priority=child.priority,
        type=child.type,
        triggered_by=TRIGGER_PERIODIC_JOB,
        job_id=child.id,
        status=EVAL_PENDING,
        create_time=now,
        modify_time=now,
    )
    return (
        RegisterJob(at=now, job=child, evals=(evaluation,)),
        RecordPeriodicLaunch(at=now, namespace=job.namespace, job_id=job.id, launch=launch),
    )


def launched_last(state: State, job: Job) -> Nanoseconds:
    """The time from which on a periodic job's next launch counts."""
    recorded = state.periodic_launches.get(JobKey(job.namespace, job.id))
    return max(job.submit_time, recorded.launch if recorded is not None else 0)
