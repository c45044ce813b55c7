"""The evaluation broker: hands each evaluation to one worker at a time, at least once."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

import msgspec

from yurt.model.evaluation import Evaluation
from yurt.model.job import JobKey
from yurt.model.times import SECOND_NS, time_ns
from yurt.model.wire import EvalID, Nanoseconds

FAILED_QUEUE = "_failed"

NACK_TIMEOUT_S = 60.0
DELIVERY_LIMIT = 3
INITIAL_NACK_DELAY_S = 1.0
SUBSEQUENT_NACK_DELAY_S = 20.0


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluation in a worker's hands. `token` proves that the worker still holds it."""

    evaluation: Evaluation
    token: str


class NotOutstanding(Exception):
    """The delivery's time ran out, or it was answered already: someone else may hold the evaluation."""


class _Outstanding:
    __slots__ = ("deadline", "delivery")

    def __init__(self, delivery: Delivery, deadline: float) -> None:
        self.delivery = delivery
        self.deadline = deadline


class Broker:
    """Queues of evaluations by scheduler type, one evaluation of a job at a time.

    Knows no clock: callers pass `now` (monotonic seconds, and Unix nanoseconds where an evaluation
    says when it is due) and call `tick` when `next_due` has come.
    """

    def __init__(self, new_token: Callable[[], str]) -> None:
        self._new_token = new_token
        self._order = 0
        self.clear()

    def clear(self) -> None:
        """Forget every evaluation."""
        self._deliveries: dict[EvalID, int] = {}
        self._owner: dict[JobKey, EvalID] = {}
        self._ready: dict[str, list[tuple[int, int, int, Evaluation]]] = {}
        self._pending: dict[JobKey, list[Evaluation]] = {}
        self._outstanding: dict[EvalID, _Outstanding] = {}
        self._requeue: dict[str, Evaluation] = {}
        # (monotonic due time, order, evaluation, queue); owners wait after a nack, others are delayed.
        self._waiting: list[tuple[float, int, Evaluation, str]] = []
        self._delayed: list[tuple[Nanoseconds, int, Evaluation]] = []
        self.cancelable: list[Evaluation] = []

    def enqueue(self, evaluation: Evaluation, *, now: float, wall: Nanoseconds) -> None:
        """Queue an evaluation that nobody holds; a known one is left alone."""
        if evaluation.id in self._deliveries:
            return
        self._deliveries[evaluation.id] = 0
        self._order += 1
        due = time_ns(evaluation.wait_until)
        if evaluation.wait > 0:
            wait = (now + evaluation.wait / SECOND_NS, self._order, evaluation, evaluation.type)
            heapq.heappush(self._waiting, wait)
        elif due > wall:
            heapq.heappush(self._delayed, (due, self._order, evaluation))
        else:
            self._make_ready(evaluation, evaluation.type)

    def requeue(self, evaluation: Evaluation, token: str) -> None:
        """Queue an evaluation again once its holder, who has `token`, has acknowledged it."""
        outstanding = self._outstanding.get(evaluation.id)
        if outstanding is not None and outstanding.delivery.token == token:
            self._requeue[token] = evaluation

    def dequeue(self, types: Sequence[str], *, now: float) -> Delivery | None:
        """Hand out the most urgent ready evaluation of `types`."""
        best = min(
            (queue for kind in types if (queue := self._ready.get(kind))),
            key=lambda queue: queue[0],
            default=None,
        )
        if best is None:
            return None
        evaluation = heapq.heappop(best)[-1]
        delivery = Delivery(evaluation=evaluation, token=self._new_token())
        self._outstanding[evaluation.id] = _Outstanding(delivery, now + NACK_TIMEOUT_S)
        self._deliveries[evaluation.id] += 1
        return delivery

    def has_ready(self, types: Sequence[str]) -> bool:
        """Whether `dequeue` would give something."""
        return any(self._ready.get(kind) for kind in types)

    def is_held(self, delivery: Delivery) -> bool:
        """Whether the delivery is still its holder's."""
        outstanding = self._outstanding.get(delivery.evaluation.id)
        return outstanding is not None and outstanding.delivery.token == delivery.token

    def is_outstanding(self, eval_id: EvalID) -> bool:
        """Whether a worker holds the evaluation."""
        return eval_id in self._outstanding

    def take_cancelable(self) -> list[Evaluation]:
        """Hand over the evaluations that a newer one of the same job made needless."""
        cancelable, self.cancelable = self.cancelable, []
        return cancelable

    def keep(self, delivery: Delivery, *, now: float) -> None:
        """Give the holder the full time again, because it shows progress."""
        self._held(delivery).deadline = now + NACK_TIMEOUT_S

    def ack(self, delivery: Delivery, *, now: float, wall: Nanoseconds) -> None:
        """The evaluation is dealt with; the job's next one may run, older ones are not needed."""
        again = self._requeue.pop(delivery.token, None)
        self._held(delivery)
        evaluation = delivery.evaluation
        del self._outstanding[evaluation.id]
        del self._deliveries[evaluation.id]
        key = JobKey(evaluation.namespace, evaluation.job_id)
        if self._owner.get(key) == evaluation.id:
            del self._owner[key]
        waiting = self._pending.pop(key, None)
        if waiting:
            waiting.sort(key=lambda e: (-e.priority, -e.modify_index))
            for older in waiting[1:]:
                self._deliveries.pop(older.id, None)
                self.cancelable.append(older)
            self._make_ready(waiting[0], waiting[0].type)
        if again is not None:
            self.enqueue(again, now=now, wall=wall)

    def nack(self, delivery: Delivery, *, now: float) -> None:
        """The evaluation was not dealt with: deliver it again later, or give up on it."""
        self._requeue.pop(delivery.token, None)
        self._held(delivery)
        self._redeliver(delivery.evaluation, now)

    def drop(self, eval_ids: Iterable[EvalID]) -> None:
        """Forget those of the evaluations that wait for a set time; others are left alone."""
        unwanted = set(eval_ids)
        for _, _, evaluation in self._delayed:
            if evaluation.id in unwanted:
                del self._deliveries[evaluation.id]
        self._delayed = [item for item in self._delayed if item[2].id not in unwanted]
        heapq.heapify(self._delayed)

    def next_due(self, *, now: float, wall: Nanoseconds) -> float | None:
        """In how many seconds `tick` has something to do."""
        due = [item.deadline - now for item in self._outstanding.values()]
        if self._waiting:
            due.append(self._waiting[0][0] - now)
        if self._delayed:
            due.append((self._delayed[0][0] - wall) / SECOND_NS)
        return max(0.0, min(due)) if due else None

    def tick(self, *, now: float, wall: Nanoseconds) -> None:
        """Let delayed evaluations in, and take overdue ones from their holders."""
        overdue = [held.delivery for held in self._outstanding.values() if held.deadline <= now]
        for delivery in overdue:
            self._requeue.pop(delivery.token, None)
            self._redeliver(delivery.evaluation, now)
        while self._waiting and self._waiting[0][0] <= now:
            _, _, evaluation, queue = heapq.heappop(self._waiting)
            self._make_ready(evaluation, queue)
        while self._delayed and self._delayed[0][0] <= wall:
            _, _, evaluation = heapq.heappop(self._delayed)
            self._make_ready(evaluation, evaluation.type)

    def stats(self) -> dict[str, int]:
        """How many evaluations are where."""
        return {
            "ready": sum(len(queue) for queue in self._ready.values()),
            "unacked": len(self._outstanding),
            "pending": sum(len(waiting) for waiting in self._pending.values()),
            "waiting": len(self._waiting) + len(self._delayed),
        }

    def _held(self, delivery: Delivery) -> _Outstanding:
        outstanding = self._outstanding.get(delivery.evaluation.id)
        if outstanding is None or outstanding.delivery.token != delivery.token:
            raise NotOutstanding(delivery.evaluation.id)
        return outstanding

    def _make_ready(self, evaluation: Evaluation, queue: str) -> None:
        key = JobKey(evaluation.namespace, evaluation.job_id)
        owner = self._owner.setdefault(key, evaluation.id)
        if owner != evaluation.id:
            self._pending.setdefault(key, []).append(evaluation)
            return
        self._order += 1
        item = (-evaluation.priority, evaluation.create_index, self._order, evaluation)
        heapq.heappush(self._ready.setdefault(queue, []), item)

    def _redeliver(self, evaluation: Evaluation, now: float) -> None:
        """Queue again what was not dealt with; its job's other evaluations stay behind it."""
        del self._outstanding[evaluation.id]
        deliveries = self._deliveries[evaluation.id]
        if deliveries >= DELIVERY_LIMIT:
            self._make_ready(evaluation, FAILED_QUEUE)
            return
        delay = INITIAL_NACK_DELAY_S if deliveries <= 1 else (deliveries - 1) * SUBSEQUENT_NACK_DELAY_S
        self._order += 1
        heapq.heappush(self._waiting, (now + delay, self._order, evaluation, evaluation.type))
