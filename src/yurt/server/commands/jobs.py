"""Registering, stopping and evaluating jobs."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.alloc import CLIENT_FAILED, DesiredTransition
from yurt.model.evaluation import (
    EVAL_PENDING,
    TRIGGER_JOB_DEREGISTER,
    TRIGGER_JOB_REGISTER,
    Evaluation,
)
from yurt.model.job import SERVICE, Job, JobKey
from yurt.model.job_submission import JobSubmission
from yurt.model.validate import index_errors, update_errors
from yurt.model.wire import AllocID, EvalID, JobID
from yurt.scheduler.configuration import ALGORITHM_META, wanted_algorithm
from yurt.scheduler.rank.algorithms import AlgorithmError, algorithm_for
from yurt.server.context import ServerContext
from yurt.state.apply_jobs import JobOutcome
from yurt.state.entries import DeregisterJob, Entry, RegisterJob, SetDesiredTransitions, UpsertEvals
from yurt.state.state import State


class JobRefused(YurtError):
    """The job cannot be registered as asked."""


class JobNotFound(YurtError):
    """There is no such job."""

    def __init__(self) -> None:
        super().__init__("job not found")


class JobRegistered(msgspec.Struct, frozen=True, kw_only=True):
    """A job is stored, and an evaluation is on its way unless the job only launches others."""

    index: int
    job: Job
    eval_id: str
    job_modify_index: int


class JobDeregistered(msgspec.Struct, frozen=True, kw_only=True):
    """A job is stopped or forgotten; all zero if there was none."""

    index: int = 0
    eval_id: str = ""
    job_modify_index: int = 0


def algorithm_errors(job: Job) -> list[str]:
    """What is wrong with the placement algorithm that a job asks for."""
    try:
        algorithm_for(wanted_algorithm(job), job.type)
    except AlgorithmError as error:
        return [f"meta {ALGORITHM_META!r}: {error}"]
    return []


class JobCommands:
    """What can be asked about jobs."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def register(
        self,
        job: Job,
        *,
        eval_priority: int = 0,
        enforce_index: int | None = None,
        submission: JobSubmission | None = None,
    ) -> JobRegistered:
        """Store a canonical, valid job and have it evaluated. Raises JobRefused."""
        context = self._context
        _refuse(algorithm_errors(job))
        existing = context.state.jobs.get(job.key)
        if existing is not None:
            _refuse(update_errors(existing, job))
        if enforce_index is not None:
            _refuse(index_errors(existing, enforced=enforce_index))
        now = context.clock.now_ns()
        evals: tuple[Evaluation, ...] = ()
        if not job.is_periodic and not job.is_parameterized:
            evals = (self._evaluation(job, TRIGGER_JOB_REGISTER, job.type, eval_priority),)
        entry = RegisterJob(
            at=now,
            job=replace(job, submit_time=now),
            evals=evals,
            enforce_index=enforce_index,
            submission=submission,
            versions_kept=context.job_versions_kept,
        )
        committed = await context.committer.propose(entry)
        outcome = committed.outcome
        assert isinstance(outcome, JobOutcome)
        if outcome.conflict:
            assert enforce_index is not None
            _refuse(index_errors(outcome.job, enforced=enforce_index))
        assert outcome.job is not None
        return JobRegistered(
            index=committed.index,
            job=outcome.job,
            eval_id=evals[0].id if evals else "",
            job_modify_index=(
                outcome.job.job_modify_index if outcome.is_changed else outcome.job.modify_index
            ),
        )

    async def deregister(
        self,
        key: JobKey,
        *,
        purge: bool = False,
        eval_priority: int = 0,
        no_shutdown_delay: bool = False,
    ) -> JobDeregistered:
        """Stop a job, or with `purge` forget it. A job that does not exist is no error.

        With `no_shutdown_delay` its tasks are killed without the delays they ask for.
        """
        context = self._context
        job = context.state.jobs.get(key)
        if job is None:
            return JobDeregistered()
        evals: tuple[Evaluation, ...] = ()
        if not (job.is_periodic or job.is_parameterized):
            # The evaluation is always of type service, as in Nomad: stopping needs no other scheduler.
            evals = (self._evaluation(job, TRIGGER_JOB_DEREGISTER, SERVICE, eval_priority),)
        entry = DeregisterJob(
            at=context.clock.now_ns(),
            namespace=key.namespace,
            job_id=key.id,
            purge=purge,
            no_shutdown_delay=no_shutdown_delay,
            evals=evals,
            versions_kept=context.job_versions_kept,
        )
        committed = await context.committer.propose(entry)
        return JobDeregistered(
            index=committed.index,
            eval_id=evals[0].id if evals else "",
            job_modify_index=committed.index,
        )

    async def evaluate(self, key: JobKey, *, force_reschedule: bool = False) -> JobRegistered:
        """Have a job looked at again. Raises JobNotFound, JobRefused.

        With `force_reschedule` failed allocations are replaced, whatever their policy says.
        """
        context = self._context
        job = context.state.jobs.get(key)
        if job is None:
            raise JobNotFound
        if job.is_periodic:
            raise JobRefused("can't evaluate periodic job")
        if job.is_parameterized:
            raise JobRefused("can't evaluate parameterized job")
        evaluation = self._evaluation(job, TRIGGER_JOB_REGISTER, job.type, 0)
        evaluation = replace(evaluation, job_modify_index=job.job_modify_index)
        now = context.clock.now_ns()
        entry: Entry = UpsertEvals(at=now, evals=(evaluation,))
        failed = _unreplaced_failures(context.state, key) if force_reschedule else ()
        if failed:
            transition = DesiredTransition(force_reschedule=True)
            entry = SetDesiredTransitions(
                at=now, transitions=dict.fromkeys(failed, transition), evals=(evaluation,)
            )
        committed = await context.committer.propose(entry)
        return JobRegistered(
            index=committed.index,
            job=job,
            eval_id=evaluation.id,
            job_modify_index=job.job_modify_index,
        )

    def _evaluation(self, job: Job, trigger: str, kind: str, priority: int) -> Evaluation:
        now = self._context.clock.now_ns()
        return Evaluation(
            id=EvalID(self._context.new_id()),
            namespace=job.namespace,
            priority=priority or job.priority,
            type=kind,
            triggered_by=trigger,
            job_id=JobID(job.id),
            status=EVAL_PENDING,
            create_time=now,
            modify_time=now,
        )


def _unreplaced_failures(state: State, key: JobKey) -> tuple[AllocID, ...]:
    return tuple(
        alloc.id
        for alloc in state.allocs.of_job(key)
        if alloc.client_status == CLIENT_FAILED and not alloc.is_server_terminal and not alloc.next_allocation
    )


def _refuse(errors: list[str]) -> None:
    """Refuse with the first of the problems, if there is one."""
    if errors:
        raise JobRefused(errors[0])
