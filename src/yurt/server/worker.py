"""A worker: takes evaluations, schedules them, submits their plans."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random

from yurt.model.evaluation import EVAL_FAILED, Evaluation
from yurt.observe.logger import get_logger
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.schedule import PLAN_ATTEMPTS_MAX, give_up, schedule
from yurt.scheduler.view import View
from yurt.server.broker import Broker, Delivery, NotOutstanding
from yurt.server.context import ServerContext
from yurt.server.plan_applier import PlanApplier, PlanResult

# Evaluations scheduled against one view and committed in one append. More would make the first
# allocations of the batch wait; fewer would pay the fixed costs more often.
EVALS_PER_BATCH_MAX = 64

logger = get_logger("worker")


class Worker:
    """Schedules evaluations in the server's own loop."""

    def __init__(self, context: ServerContext, broker: Broker, applier: PlanApplier) -> None:
        self._context = context
        self._clock = context.clock
        self._broker = broker
        self._applier = applier
        self._wake = asyncio.Event()
        # Where evaluations go that still wait for capacity; the leader sets it.
        self.reblock: Callable[[Evaluation], None] = lambda evaluation: None
        # Called when an evaluation was answered, well or not; the leader sets it.
        self.settled: Callable[[], None] = lambda: None

    def wake(self) -> None:
        """Look at the broker again."""
        self._wake.set()

    async def run(self, types: Sequence[str]) -> None:
        """Work on evaluations of `types` until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while not self._is_paused() and (batch := self._take(types)):
                await self._process(batch)

    def _is_paused(self) -> bool:
        return self._context.state.scheduler_configuration.pause_eval_broker

    def _take(self, types: Sequence[str]) -> list[Delivery]:
        batch: list[Delivery] = []
        while len(batch) < EVALS_PER_BATCH_MAX:
            delivery = self._broker.dequeue(types, now=self._clock.monotonic())
            if delivery is None:
                break
            batch.append(delivery)
        return batch

    async def _process(self, batch: list[Delivery]) -> None:
        """Schedule a batch against one view, each evaluation seeing the ones before it."""
        self._context.state.columns.expire(self._clock.now_ns())
        view = View(self._context.state)
        passes: list[tuple[Delivery, Attempt]] = []
        for delivery in batch:
            attempt = self._schedule(view, delivery, attempt=0)
            if attempt is not None:
                passes.append((delivery, attempt))
            if attempt is None or attempt.evaluation.status == EVAL_FAILED:
                # What it had placed before it failed must not stand in the way of the others.
                view.release()
                view = self._view_with(passes)
        view.release()
        if not passes:
            return
        try:
            results = await self._applier.submit([attempt for _, attempt in passes])
        except Exception:
            logger.exception("plans.not_committed", evaluations=len(passes))
            for delivery, _ in passes:
                self._nack(delivery)
            return
        for (delivery, attempt), result in zip(passes, results, strict=True):
            if result.is_broken:
                self._nack(delivery)
            elif result.is_complete and not attempt.has_more:
                self._ack(delivery, attempt)
            else:
                await self._go_on(delivery, attempt, result)

    def _view_with(self, passes: Sequence[tuple[Delivery, Attempt]]) -> View:
        view = View(self._context.state)
        for _, attempt in passes:
            if attempt.plan is not None:
                view.add(attempt.plan.changes)
        return view

    def _schedule(
        self, view: View, delivery: Delivery, *, attempt: int, evaluation: Evaluation | None = None
    ) -> Attempt | None:
        """Make one pass; one bad evaluation fails alone, and comes back later."""
        evaluation = evaluation or delivery.evaluation
        try:
            # A blocked evaluation is looked at again and again; ids made for it must be new each time.
            seed = f"{evaluation.id}/{view.state.index}/{attempt}"
            return schedule(view, evaluation, now=self._clock.now_ns(), rng=Random(seed))
        except Exception:
            logger.exception("evaluation.failed", eval_id=evaluation.id, job_id=evaluation.job_id)
            self._nack(delivery)
            return None

    async def _go_on(self, delivery: Delivery, attempt: Attempt, result: PlanResult) -> None:
        """Submit the next slice, or try again on a fresher State while there is progress or patience."""
        failures = tries = 0
        try:
            while not (result.is_complete and not attempt.has_more):
                tries += 1
                failures = 0 if result.is_complete or result.made_progress else failures + 1
                self._broker.keep(delivery, now=self._clock.monotonic())
                again: Attempt | None
                if failures < PLAN_ATTEMPTS_MAX[delivery.evaluation.type]:
                    view = View(self._context.state)
                    again = self._schedule(view, delivery, attempt=tries, evaluation=attempt.resume)
                    view.release()
                else:
                    again = self._give_up(attempt)
                if again is None:
                    return
                attempt = again
                (result,) = await self._applier.submit([attempt])
                if result.is_broken:
                    self._nack(delivery)
                    return
            self._ack(delivery, attempt)
        except NotOutstanding:
            return  # the delivery timed out; whoever gets it next starts over
        except Exception:
            logger.exception("plan.not_committed", eval_id=delivery.evaluation.id)
            self._nack(delivery)

    def _give_up(self, attempt: Attempt) -> Attempt:
        rng = Random(f"{attempt.resume.id}/{self._context.state.index}/give-up")
        return give_up(attempt, at_index=self._context.state.index, now=self._clock.now_ns(), rng=rng)

    def _ack(self, delivery: Delivery, attempt: Attempt) -> None:
        try:
            self._broker.ack(delivery, now=self._clock.monotonic(), wall=self._clock.now_ns())
        except NotOutstanding:
            return
        if attempt.reblock:
            self.reblock(attempt.evaluation)
        self.settled()
        self.wake()

    def _nack(self, delivery: Delivery) -> None:
        try:
            self._broker.nack(delivery, now=self._clock.monotonic())
        except NotOutstanding:
            return
        self.settled()
