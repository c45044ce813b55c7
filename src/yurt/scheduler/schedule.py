"""Scheduling: the right scheduler for an evaluation."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Protocol

from msgspec.structs import replace

from yurt.model.evaluation import Evaluation
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM
from yurt.model.times import SECOND_NS
from yurt.model.wire import EvalID, Nanoseconds
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.ids import new_id
from yurt.scheduler.kinds import service, system
from yurt.scheduler.kinds.endings import broken, given_up, look_again
from yurt.scheduler.rank.algorithms import AlgorithmError
from yurt.scheduler.view import View

PLAN_ATTEMPTS_MAX = {SERVICE: 5, BATCH: 2, SYSTEM: 5, SYSBATCH: 2}

# After an evaluation failed its job is looked at again so much later, at some moment of the spread.
FOLLOW_UP_WAIT_MIN_S = 60
FOLLOW_UP_WAIT_SPREAD_S = 300


class Scheduler(Protocol):
    """Decides what to do about one evaluation of its kind."""

    def __call__(self, view: View, evaluation: Evaluation, *, now: Nanoseconds, rng: Random) -> Attempt:
        """Make one pass. Everything random comes from `rng`, so that a seed reproduces a run."""


SCHEDULERS: dict[str, Scheduler] = {
    SERVICE: service.attempt,
    BATCH: service.attempt,
    SYSTEM: system.attempt,
    SYSBATCH: system.attempt,
}


def schedule(view: View, evaluation: Evaluation, *, now: Nanoseconds, rng: Random) -> Attempt:
    """Make one pass over an evaluation with the scheduler of its type.

    A placement algorithm that fails, fails the evaluation; what the view shows of it then is void.
    """
    try:
        return SCHEDULERS[evaluation.type](view, evaluation, now=now, rng=rng)
    except AlgorithmError as error:
        wait_s = FOLLOW_UP_WAIT_MIN_S + rng.randrange(FOLLOW_UP_WAIT_SPREAD_S)
        later = look_again(evaluation, EvalID(new_id(rng)), wait=wait_s * SECOND_NS, now=now)
        return broken(evaluation, str(error), later=later, now=now)


def give_up(last: Attempt, *, at_index: int, now: Nanoseconds, rng: Random) -> Attempt:
    """End an evaluation whose plans lost too many races; service and batch jobs try again later.

    What the last attempt found out is kept, though nothing came of its plan.
    """
    found = replace(
        last.resume,
        plan_annotations=last.evaluation.plan_annotations,
        queued_allocations=last.evaluation.queued_allocations,
        failed_tg_allocs=last.evaluation.failed_tg_allocs,
        deployment_id=last.evaluation.deployment_id,
    )
    attempts = PLAN_ATTEMPTS_MAX[found.type]
    return given_up(found, attempts, new_id=partial(new_id, rng), at_index=at_index, now=now)
