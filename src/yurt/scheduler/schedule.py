"""Scheduling: the right scheduler for an evaluation."""

from __future__ import annotations

from random import Random
from typing import Protocol

from msgspec.structs import replace

from yurt.model.evaluation import (
    EVAL_BLOCKED,
    EVAL_FAILED,
    TRIGGER_MAX_PLAN_ATTEMPTS,
    Evaluation,
)
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM
from yurt.model.wire import EvalID, Nanoseconds
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.ids import new_id
from yurt.scheduler.kinds import service
from yurt.scheduler.view import View

PLAN_ATTEMPTS_MAX = {SERVICE: 5, BATCH: 2, SYSTEM: 5, SYSBATCH: 2}


class Scheduler(Protocol):
    """Decides what to do about one evaluation of its kind."""

    def __call__(self, view: View, evaluation: Evaluation, *, now: Nanoseconds, rng: Random) -> Attempt:
        """Make one pass. Everything random comes from `rng`, so that a seed reproduces a run."""


SCHEDULERS: dict[str, Scheduler] = {
    SERVICE: service.attempt,
    BATCH: service.attempt,
}


def schedule(view: View, evaluation: Evaluation, *, now: Nanoseconds, rng: Random) -> Attempt:
    """Make one pass over an evaluation with the scheduler of its type."""
    return SCHEDULERS[evaluation.type](view, evaluation, now=now, rng=rng)


def give_up(evaluation: Evaluation, *, now: Nanoseconds, rng: Random) -> Attempt:
    """End an evaluation whose plans lost too many races; service and batch jobs try again later."""
    attempts = PLAN_ATTEMPTS_MAX[evaluation.type]
    failed = replace(
        evaluation,
        status=EVAL_FAILED,
        status_description=f"maximum attempts reached ({attempts})",
        modify_time=now,
    )
    if evaluation.type not in (SERVICE, BATCH):
        return Attempt(evaluation=failed)
    later = replace(
        evaluation,
        id=EvalID(new_id(rng)),
        status=EVAL_BLOCKED,
        status_description="created due to placement conflicts",
        triggered_by=TRIGGER_MAX_PLAN_ATTEMPTS,
        previous_eval=evaluation.id,
        escaped_computed_class=True,
        create_time=now,
        modify_time=now,
    )
    return Attempt(evaluation=replace(failed, blocked_eval=later.id), new_evals=(later,))
