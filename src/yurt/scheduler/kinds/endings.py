"""How a pass over an evaluation ends: complete, blocked, or to be tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from yurt.model.alloc_metric import AllocMetric
from yurt.model.evaluation import (
    EVAL_BLOCKED,
    EVAL_COMPLETE,
    EVAL_FAILED,
    EVAL_PENDING,
    TRIGGER_FAILED_FOLLOW_UP,
    TRIGGER_MAX_PLAN_ATTEMPTS,
    TRIGGER_QUEUED_ALLOCS,
    Evaluation,
)
from yurt.model.job import BATCH, SERVICE, JobKey
from yurt.model.plan_annotations import PlanAnnotations
from yurt.model.wire import DeploymentID, EvalID, Nanoseconds
from yurt.scheduler.attempt import Attempt
from yurt.state.state import State

UNPLACED = "created to place remaining allocations"
CONFLICTS = "created due to placement conflicts"


class Unplaced(msgspec.Struct, frozen=True, kw_only=True):
    """What could not be placed, and what must change before trying again is of use."""

    failed: Mapping[str, AllocMetric] = {}
    class_eligibility: Mapping[str, bool] = {}
    escaped: bool = False
    missing: tuple[str, ...] = ()
    # The quota that is used up, if that is all there is to wait for.
    quota: str = ""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What a pass found out about its evaluation."""

    unplaced: Unplaced
    annotations: PlanAnnotations
    # None if the job is gone.
    queued: dict[str, int] | None = None
    deployment_id: DeploymentID = DeploymentID("")


def completed(evaluation: Evaluation, findings: Findings, *, at_index: int, now: Nanoseconds) -> Evaluation:
    """An evaluation that is done, with what came of it."""
    return replace(
        evaluation,
        status=EVAL_COMPLETE,
        status_description="",
        failed_tg_allocs=dict(findings.unplaced.failed) or None,
        quota_limit_reached=findings.unplaced.quota,
        queued_allocations=findings.queued,
        plan_annotations=findings.annotations,
        deployment_id=findings.deployment_id or evaluation.deployment_id,
        snapshot_index=at_index,
        modify_time=now,
    )


def blocked_again(evaluation: Evaluation, findings: Findings, *, at_index: int) -> Evaluation:
    """A blocked evaluation that stays blocked, waiting for what this pass lacked."""
    unplaced = findings.unplaced
    return replace(
        evaluation,
        status=EVAL_BLOCKED,
        class_eligibility=dict(unplaced.class_eligibility) or None,
        escaped_computed_class=unplaced.escaped,
        missing_non_node_resources=unplaced.missing or None,
        quota_limit_reached=unplaced.quota,
        queued_allocations=findings.queued,
        snapshot_index=at_index,
    )


def blocked_eval(
    evaluation: Evaluation,
    unplaced: Unplaced,
    *,
    new_id: Callable[[], str],
    at_index: int,
    now: Nanoseconds,
) -> Evaluation:
    """An evaluation that waits for room for what is not placed."""
    return Evaluation(
        id=EvalID(new_id()),
        namespace=evaluation.namespace,
        priority=evaluation.priority,
        type=evaluation.type,
        triggered_by=TRIGGER_QUEUED_ALLOCS,
        job_id=evaluation.job_id,
        job_modify_index=evaluation.job_modify_index,
        status=EVAL_BLOCKED,
        status_description=UNPLACED,
        previous_eval=evaluation.id,
        failed_tg_allocs=dict(unplaced.failed) or None,
        class_eligibility=(dict(unplaced.class_eligibility) or None) if not unplaced.escaped else None,
        escaped_computed_class=unplaced.escaped,
        missing_non_node_resources=unplaced.missing or None,
        quota_limit_reached=unplaced.quota,
        snapshot_index=at_index,
        create_time=now,
        modify_time=now,
    )


def differs_from_summary(state: State, evaluation: Evaluation) -> bool:
    """Whether an evaluation's counts of what is queued are news to its job's summary."""
    summary = state.job_summaries.get(JobKey(evaluation.namespace, evaluation.job_id))
    rows = summary.summary if summary is not None else {}
    return any(
        name in rows and rows[name].queued != queued
        for name, queued in (evaluation.queued_allocations or {}).items()
    )


def refused(evaluation: Evaluation, *, now: Nanoseconds) -> Attempt:
    """An evaluation whose trigger its scheduler does not know."""
    failed = replace(
        evaluation,
        status=EVAL_FAILED,
        status_description=f"scheduler cannot handle '{evaluation.triggered_by}' evaluation reason",
        modify_time=now,
    )
    return Attempt(evaluation=failed, resume=evaluation)


def broken(evaluation: Evaluation, why: str, *, later: Evaluation, now: Nanoseconds) -> Attempt:
    """An evaluation that cannot be dealt with, as long as nothing is repaired; `later` looks again."""
    failed = replace(
        evaluation, status=EVAL_FAILED, status_description=why, next_eval=later.id, modify_time=now
    )
    return Attempt(evaluation=failed, resume=evaluation, new_evals=(later,))


def look_again(evaluation: Evaluation, eval_id: EvalID, *, wait: Nanoseconds, now: Nanoseconds) -> Evaluation:
    """The evaluation that follows one that failed, after a while."""
    return Evaluation(
        id=eval_id,
        namespace=evaluation.namespace,
        priority=evaluation.priority,
        type=evaluation.type,
        triggered_by=TRIGGER_FAILED_FOLLOW_UP,
        job_id=evaluation.job_id,
        job_modify_index=evaluation.job_modify_index,
        status=EVAL_PENDING,
        wait=wait,
        previous_eval=evaluation.id,
        create_time=now,
        modify_time=now,
    )


def given_up(
    evaluation: Evaluation,
    attempts: int,
    *,
    new_id: Callable[[], str],
    at_index: int,
    now: Nanoseconds,
) -> Attempt:
    """An evaluation whose plans lost too many races; service and batch jobs are looked at again later."""
    failed = replace(
        evaluation,
        status=EVAL_FAILED,
        status_description=f"maximum attempts reached ({attempts})",
        modify_time=now,
    )
    if evaluation.type not in (SERVICE, BATCH):
        return Attempt(evaluation=failed, resume=evaluation)
    later = Evaluation(
        id=EvalID(new_id()),
        namespace=evaluation.namespace,
        priority=evaluation.priority,
        type=evaluation.type,
        triggered_by=TRIGGER_MAX_PLAN_ATTEMPTS,
        job_id=evaluation.job_id,
        job_modify_index=evaluation.job_modify_index,
        status=EVAL_BLOCKED,
        status_description=CONFLICTS,
        previous_eval=evaluation.id,
        snapshot_index=at_index,
        create_time=now,
        modify_time=now,
    )
    return Attempt(evaluation=replace(failed, blocked_eval=later.id), resume=evaluation, new_evals=(later,))
