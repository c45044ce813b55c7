"""Follow-up evaluations: looking at a job again when a delay is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from yurt.model.alloc import Allocation
from yurt.model.evaluation import (
    EVAL_PENDING,
    TRIGGER_ALLOC_FAILURE,
    TRIGGER_ALLOC_RESCHEDULE,
    TRIGGER_MAX_DISCONNECT_TIMEOUT,
    Evaluation,
)
from yurt.model.job import Job
from yurt.model.times import SECOND_NS, time_text
from yurt.model.wire import AllocID, EvalID, Nanoseconds

BATCH_WINDOW_NS = 5 * SECOND_NS

RESCHEDULING = "created for delayed rescheduling"
DISCONNECT_TIMEOUT = "created for delayed disconnect timeout"


class Delayed(NamedTuple):
    """An allocation to look at again at a time."""

    alloc: Allocation
    at: Nanoseconds


class FollowUps(NamedTuple):
    """Evaluations to come, and which allocation waits for which of them."""

    evals: list[Evaluation]
    by_alloc: dict[AllocID, EvalID]


class FollowUpMaker:
    """Makes follow-up evaluations of one evaluation."""

    def __init__(
        self, evaluation: Evaluation, job: Job, *, now: Nanoseconds, new_id: Callable[[], str]
    ) -> None:
        self._evaluation = evaluation
        self._job = job
        self._now = now
        self._new_id = new_id

    def for_rescheduling(self, delayed: Iterable[Delayed]) -> FollowUps:
        """For failed allocations whose delay is not over."""
        return self._make(delayed, TRIGGER_ALLOC_RESCHEDULE, RESCHEDULING)

    def for_lost(self, delayed: Iterable[Delayed]) -> FollowUps:
        """For lost allocations whose node may still be stopping them."""
        return self._make(delayed, TRIGGER_ALLOC_FAILURE, RESCHEDULING)

    def for_disconnected(self, delayed: Iterable[Delayed]) -> FollowUps:
        """For unknown allocations, when they are to be given up."""
        return self._make(delayed, TRIGGER_MAX_DISCONNECT_TIMEOUT, DISCONNECT_TIMEOUT)

    def _make(self, delayed: Iterable[Delayed], trigger: str, description: str) -> FollowUps:
        evals: list[Evaluation] = []
        by_alloc: dict[AllocID, EvalID] = {}
        began = 0
        for alloc, at in sorted(delayed, key=lambda one: one.at):
            if not evals or at - began >= BATCH_WINDOW_NS:
                began = at
                evals.append(self._evaluation_at(at, trigger, description))
            by_alloc[alloc.id] = evals[-1].id
        return FollowUps(evals, by_alloc)

    def _evaluation_at(self, at: Nanoseconds, trigger: str, description: str) -> Evaluation:
        cause, job = self._evaluation, self._job
        return Evaluation(
            id=EvalID(self._new_id()),
            namespace=cause.namespace,
            priority=cause.priority,
            type=job.type,
            triggered_by=trigger,
            job_id=job.id,
            job_modify_index=job.modify_index,
            status=EVAL_PENDING,
            status_description=description,
            wait_until=time_text(at),
            previous_eval=cause.id,
            create_time=self._now,
            modify_time=self._now,
        )
