"""Scaling: the count of a group changes, or something is noted about it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_SCALING, Evaluation
from yurt.model.group import TaskGroup
from yurt.model.job import SYSTEM, Job, JobKey
from yurt.model.scaling_event import ScalingEvent
from yurt.model.validate import index_errors
from yurt.model.wire import EvalID
from yurt.server.commands.jobs import JobNotFound, JobRefused
from yurt.server.context import ServerContext
from yurt.state.apply_jobs import JobOutcome
from yurt.state.entries import GroupScaling, RecordScaling, RegisterJob
from yurt.state.state import State


class ScalingRefused(YurtError):
    """The scaling is not as it must be."""


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a group: a new count, or without one only a note."""

    group: str
    count: int | None = None
    message: str = ""
    error: bool = False
    meta: dict[str, Any] | None = None
    enforce_index: int = 0


class Scaled(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it; `eval_id` is empty when only something was noted."""

    index: int
    job_modify_index: int
    eval_id: str = ""
    eval_create_index: int = 0


class ScaleCommands:
    """What can be asked about the counts of jobs."""

    def __init__(self, context: ServerContext, *, job_max_count: int) -> None:
        self._context = context
        self._job_max_count = job_max_count

    async def scale(self, key: JobKey, scaling: Scaling) -> Scaled:
        """Set the count of a group, or note something. Raises JobNotFound, ScalingRefused, JobRefused."""
        state = self._context.state
        job = state.jobs.get(key)
        if job is None:
            raise JobNotFound
        group = checked_group(job, scaling)
        now = self._context.clock.now_ns()
        event = ScalingEvent(
            time=now,
            count=scaling.count,
            previous_count=group.count,
            message=scaling.message,
            error=scaling.error,
            meta=scaling.meta,
        )
        if scaling.count is None:
            entry = RecordScaling(
                at=now, namespace=key.namespace, job_id=key.id, group=group.name, event=event
            )
            committed = await self._context.committer.propose(entry)
            return Scaled(index=committed.index, job_modify_index=job.job_modify_index)
        self._check_change(state, job, group, scaling)
        return await self._set_count(job, group, scaling.count, event)

    def _check_change(self, state: State, job: Job, group: TaskGroup, scaling: Scaling) -> None:
        if scaling.enforce_index and scaling.enforce_index != job.job_modify_index:
            raise JobRefused(index_errors(job, enforced=scaling.enforce_index)[0])
        if state.deployments.has_active(job.key):
            raise ScalingRefused("job scaling blocked due to active deployment")
        total = sum(one.count for one in job.task_groups) - group.count + (scaling.count or 0)
        if self._job_max_count and total > self._job_max_count:
            raise JobRefused(
                f"total count was greater than configured job_max_count: {total} > {self._job_max_count}"
            )

    async def _set_count(self, job: Job, group: TaskGroup, count: int, event: ScalingEvent) -> Scaled:
        context = self._context
        groups = tuple(replace(one, count=count) if one is group else one for one in job.task_groups)
        evaluation = Evaluation(
            id=EvalID(context.new_id()),
            namespace=job.namespace,
            priority=job.priority,
            type=job.type,
            triggered_by=TRIGGER_SCALING,
            job_id=job.id,
            status=EVAL_PENDING,
            create_time=event.time,
            modify_time=event.time,
        )
        # What only launches children has nothing of its own to place; the count is for the next child.
        evals = () if job.is_periodic or job.is_parameterized else (evaluation,)
        eval_id = evaluation.id if evals else EvalID("")
        entry = RegisterJob(
            at=event.time,
            job=replace(job, task_groups=groups, submit_time=event.time, version_tag=None),
            evals=evals,
            enforce_index=job.job_modify_index,
            scaling=GroupScaling(group=group.name, event=replace(event, eval_id=eval_id or None)),
            is_new_version=True,
            versions_kept=context.job_versions_kept,
        )
        committed = await context.committer.propose(entry)
        outcome = committed.outcome
        assert isinstance(outcome, JobOutcome)
        if outcome.conflict:
            raise JobRefused(index_errors(outcome.job, enforced=job.job_modify_index)[0])
        assert outcome.job is not None
        return Scaled(
            index=committed.index,
            job_modify_index=outcome.job.job_modify_index,
            eval_id=eval_id,
            eval_create_index=committed.index if evals else 0,
        )


def checked_group(job: Job, scaling: Scaling) -> TaskGroup:
    """The group that is to be scaled. Raises ScalingRefused if it cannot be, whatever State holds."""
    group = job.group(scaling.group)
    if group is None:
        raise ScalingRefused(f'task group "{scaling.group}" specified for scaling does not exist in job')
    count, policy = scaling.count, group.scaling
    if count is None:
        return group
    if job.type == SYSTEM and count > 1:
        raise ScalingRefused('jobs of type "system" can only be scaled between 0 and 1')
    if policy is not None and count < policy.min:
        raise ScalingRefused(f"group count was less than scaling policy minimum: {count} < {policy.min}")
    if policy is not None and count > policy.max:
        raise ScalingRefused(f"group count was greater than scaling policy maximum: {count} > {policy.max}")
    return group
