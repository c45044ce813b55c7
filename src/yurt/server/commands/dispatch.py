"""Dispatching: a parameterized job launches a child with a payload and meta of its own."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_JOB_REGISTER, Evaluation
from yurt.model.job import JOB_PRIORITY_MAX, JOB_PRIORITY_MIN, Job, JobKey
from yurt.model.policies import ParameterizedJobConfig
from yurt.model.snappy import compress
from yurt.model.times import SECOND_NS
from yurt.model.wire import EvalID, JobID
from yurt.server.context import ServerContext
from yurt.state.entries import RegisterJob

PAYLOAD_BYTES_MAX = 16 * 1024
CHILD_MARK = "/dispatch-"


class DispatchRefused(YurtError):
    """The job cannot be dispatched as asked."""


class Dispatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a child is to get; 0 is the parent's priority."""

    payload: bytes = b""
    meta: dict[str, str] = {}
    id_prefix: str = ""
    priority: int = 0
    idempotency_token: str = ""


class Dispatched(msgspec.Struct, frozen=True, kw_only=True):
    """The child; `eval_id` is empty when an earlier dispatch with the same token made it."""

    job_id: str
    job_create_index: int
    eval_id: str = ""
    eval_create_index: int = 0
    index: int = 0


class DispatchCommands:
    """What can be asked of parameterized jobs."""

    def __init__(self, context: ServerContext, *, job_priority_max: int = JOB_PRIORITY_MAX) -> None:
        self._context = context
        self._job_priority_max = job_priority_max

    async def dispatch(self, key: JobKey, request: Dispatch) -> Dispatched:
        """Launch a child. Raises DispatchRefused."""
        context = self._context
        parent = context.state.jobs.get(key)
        if parent is None:
            raise DispatchRefused("parameterized job not found")
        problem = dispatch_problem(parent, request, priority_max=self._job_priority_max)
        if problem:
            raise DispatchRefused(problem)
        earlier = self._earlier(key, request.idempotency_token)
        if earlier is not None:
            return Dispatched(
                job_id=earlier.id, job_create_index=earlier.create_index, index=earlier.modify_index
            )
        now = context.clock.now_ns()
        child = child_of(parent, request, now=now, suffix=context.new_id()[:8])
        evaluation = Evaluation(
            id=EvalID(context.new_id()),
            namespace=child.namespace,
            priority=child.priority,
            type=child.type,
            triggered_by=TRIGGER_JOB_REGISTER,
            job_id=child.id,
            status=EVAL_PENDING,
            create_time=now,
            modify_time=now,
        )
        # A periodic parent's children only wait for its times; they are not evaluated here.
        evals = () if child.is_periodic else (evaluation,)
        committed = await context.committer.propose(RegisterJob(at=now, job=child, evals=evals))
        return Dispatched(
            job_id=child.id,
            job_create_index=committed.index,
            eval_id=evals[0].id if evals else "",
            eval_create_index=committed.index if evals else 0,
            index=committed.index,
        )

    def _earlier(self, key: JobKey, token: str) -> Job | None:
        if not token:
            return None
        children = self._context.state.jobs.children_of(key)
        return next((child for child in children if child.dispatch_idempotency_token == token), None)


def dispatch_problem(parent: Job, request: Dispatch, *, priority_max: int = JOB_PRIORITY_MAX) -> str:
    """Say why a job cannot be dispatched so; empty if it can."""
    rules = parent.parameterized_job
    if rules is None or not parent.is_parameterized:
        return f'Specified job "{parent.id}" is not a parameterized job'
    if parent.stop:
        return f'Specified job "{parent.id}" is stopped'
    if request.priority and not JOB_PRIORITY_MIN <= request.priority <= priority_max:
        return f"dispatch job priority must be between [{JOB_PRIORITY_MIN}, {priority_max}]"
    if rules.payload == "required" and not request.payload:
        return "Payload is not provided but required by parameterized job"
    if rules.payload == "forbidden" and request.payload:
        return "Payload provided but forbidden by parameterized job"
    if len(request.payload) > PAYLOAD_BYTES_MAX:
        return f"Payload exceeds maximum size; {len(request.payload)} > {PAYLOAD_BYTES_MAX}"
    return _meta_problem(rules, request.meta)


def _meta_problem(rules: ParameterizedJobConfig, meta: Mapping[str, str]) -> str:
    required, optional = rules.meta_required or (), rules.meta_optional or ()
    unpermitted = [name for name in meta if name not in required and name not in optional]
    if unpermitted:
        listed = " ".join(unpermitted)
        return f"Dispatch request included unpermitted metadata keys: [{listed}]"
    missing = [name for name in required if name not in meta]
    if missing:
        return f"Dispatch did not provide required meta keys: [{' '.join(missing)}]"
    return ""


def child_of(parent: Job, request: Dispatch, *, now: int, suffix: str) -> Job:
    """The job that a dispatch launches; `suffix` makes its id its own."""
    prefix = f"{request.id_prefix}-" if request.id_prefix else ""
    child_id = JobID(f"{parent.id}{CHILD_MARK}{prefix}{now // SECOND_NS}-{suffix}")
    return replace(
        parent,
        id=child_id,
        name=child_id,
        parent_id=parent.id,
        dispatched=True,
        dispatch_idempotency_token=request.idempotency_token,
        payload=compress(request.payload) if request.payload else None,
        meta={**(parent.meta or {}), **request.meta} or None,
        priority=request.priority or parent.priority,
        status="",
        status_description="",
        stable=False,
        version=0,
        version_tag=None,
        submit_time=now,
    )
