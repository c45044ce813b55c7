"""The plan applier: what still fits is committed, one batch after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from yurt.clock import Clock
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_PREEMPTION, Evaluation
from yurt.model.job import JobKey
from yurt.model.node import NODE_ELIGIBLE, NODE_INELIGIBLE, SUBSYSTEM_SCHEDULER
from yurt.model.plan import PlanChanges
from yurt.model.wire import EvalID, Nanoseconds, NodeID
from yurt.observe.logger import get_logger
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.check_plan import CheckedPlan, check_plan
from yurt.scheduler.view import View
from yurt.server.committer import Committer
from yurt.server.plan_rejections import PlanRejections, RejectionLimits
from yurt.state.entries import CommitPlan, Entry, SetNodeEligibility, UpsertEvals
from yurt.state.state import State

# One append holds at most so many plans: a longer one would make the first of them wait.
PLANS_PER_APPEND_MAX = 512
PLAN_QUEUE_MAX = 4096
EVENT_PLANS_REJECTED = "Node marked as ineligible for scheduling due to multiple plan rejections"

logger = get_logger("plan")


class PlanResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a submitted attempt.

    Unless `is_complete`, the evaluation was not written, and must be tried again on a State of at
    least `refresh_index`. `made_progress` says whether anything of the plan was committed. With
    `is_broken` it could not be verified, and the evaluation should come back later.
    """

    is_complete: bool
    made_progress: bool
    refresh_index: int = 0
    is_broken: bool = False


class _Submission(msgspec.Struct, frozen=True, kw_only=True):
    attempts: Sequence[Attempt]
    done: asyncio.Future[list[PlanResult]]


class PlanApplier:
    """Verifies plans against the newest State and commits what holds."""

    def __init__(
        self,
        committer: Committer,
        clock: Clock,
        new_id: Callable[[], str],
        *,
        rejections: RejectionLimits | None = None,
    ) -> None:
        """With `rejections`, nodes that plans keep failing on are made ineligible."""
        self._rejections = PlanRejections(rejections) if rejections is not None else None
        self._committer = committer
        self._clock = clock
        self._new_id = new_id
        self._queue: asyncio.PriorityQueue[tuple[int, int, _Submission]] = asyncio.PriorityQueue(
            PLAN_QUEUE_MAX
        )
        self._order = 0

    async def submit(self, attempts: Sequence[Attempt]) -> list[PlanResult]:
        """Queue attempts and wait until each is committed or refused. Raises what the log raises."""
        done: asyncio.Future[list[PlanResult]] = asyncio.get_running_loop().create_future()
        self._order += 1
        priority = max(attempt.evaluation.priority for attempt in attempts)
        await self._queue.put((-priority, self._order, _Submission(attempts=attempts, done=done)))
        return await done

    async def run(self) -> None:
        """Apply what is submitted, until cancelled."""
        while True:
            batch = [(await self._queue.get())[-1]]
            size = len(batch[0].attempts)
            while size < PLANS_PER_APPEND_MAX and not self._queue.empty():
                batch.append(self._queue.get_nowait()[-1])
                size += len(batch[-1].attempts)
            try:
                results = await self._commit([attempt for one in batch for attempt in one.attempts])
            except Exception as error:  # noqa: BLE001 - the submitters' failure, not the applier's
                for submission in batch:
                    if not submission.done.done():
                        submission.done.set_exception(error)
                continue
            remaining = iter(results)
            for submission in batch:
                own = [next(remaining) for _ in submission.attempts]
                if not submission.done.done():
                    submission.done.set_result(own)

    async def _commit(self, attempts: list[Attempt]) -> list[PlanResult]:
        entries: list[Entry] = []
        results: list[PlanResult] = []
        now = self._clock.now_ns()
        view = View(self._committer.state)
        for attempt in attempts:
            try:
                result, checked = self._verify(view, attempt)
            except Exception:
                logger.exception("plan.not_verified", eval_id=attempt.evaluation.id)
                results.append(PlanResult(is_complete=False, made_progress=False, is_broken=True))
                view = self._view_with(entries)
                continue
            results.append(result)
            entries += self._entries(attempt, checked.changes, now=now, is_complete=result.is_complete)
            entries += self._set_aside(checked.rejected, now)
        if entries:
            await self._committer.propose(*entries)
        return results

    def _view_with(self, entries: Sequence[Entry]) -> View:
        """What State shows, and the plans that are about to be committed."""
        view = View(self._committer.state)
        for entry in entries:
            if isinstance(entry, CommitPlan):
                view.add(entry.changes)
        return view

    def _verify(self, view: View, attempt: Attempt) -> tuple[PlanResult, CheckedPlan]:
        if attempt.plan is None:
            return PlanResult(is_complete=True, made_progress=False), CheckedPlan(changes=PlanChanges())
        checked = check_plan(view, attempt.plan)
        for node_id in checked.rejected:
            logger.warning("plan.rejected", eval_id=attempt.plan.eval_id, node_id=node_id)
        if checked.over_quota:
            logger.warning("plan.over_quota", eval_id=attempt.plan.eval_id, quota=checked.over_quota)
        view.add(checked.changes)
        result = PlanResult(
            is_complete=not checked.rejected and not checked.over_quota,
            made_progress=not checked.changes.is_empty,
            refresh_index=checked.refresh_index,
        )
        return result, checked

    def _entries(
        self, attempt: Attempt, changes: PlanChanges, *, now: Nanoseconds, is_complete: bool
    ) -> list[Entry]:
        entries: list[Entry] = []
        is_done = is_complete and not attempt.has_more
        # Allocations of the plan name its follow-ups, so these come along with any part of it.
        new_evals = attempt.follow_ups if is_complete or not changes.is_empty else ()
        if is_done:
            new_evals += attempt.new_evals
        if new_evals:
            entries.append(UpsertEvals(at=now, evals=new_evals))
        if not changes.is_empty:
            evals = self._preemption_evals(changes, now)
            entries.append(CommitPlan(at=now, eval_id=attempt.evaluation.id, changes=changes, evals=evals))
        if is_done and attempt.writes_evaluation:
            entries.append(UpsertEvals(at=now, evals=(replace(attempt.evaluation, modify_time=now),)))
        return entries

    def _set_aside(self, rejected: Sequence[NodeID], now: Nanoseconds) -> list[Entry]:
        """Keep new work off nodes that plans have failed on too often."""
        if self._rejections is None or not rejected:
            return []
        nodes = self._committer.state.nodes
        entries: list[Entry] = []
        for node_id in self._rejections.add(rejected, now=self._clock.monotonic()):
            node = nodes.get(node_id)
            if node is not None and node.scheduling_eligibility == NODE_ELIGIBLE:
                logger.error("node.set_aside", node_id=node_id, reason="plans keep failing on it")
                entries.append(
                    SetNodeEligibility(
                        at=now,
                        node_id=node_id,
                        eligibility=NODE_INELIGIBLE,
                        event=EVENT_PLANS_REJECTED,
                        subsystem=SUBSYSTEM_SCHEDULER,
                    )
                )
        return entries

    def _preemption_evals(self, changes: PlanChanges, now: Nanoseconds) -> tuple[Evaluation, ...]:
        """One evaluation for each job that lost allocations to the plan."""
        state = self._committer.state
        losers: dict[JobKey, None] = {}
        for preemption in changes.preemptions:
            alloc = state.allocs.get(preemption.id)
            if alloc is not None:
                losers[alloc.job_key] = None
        return tuple(
            preemption_eval(state, key, EvalID(self._new_id()), now) for key in losers if key in state.jobs
        )


def preemption_eval(state: State, key: JobKey, eval_id: EvalID, now: Nanoseconds) -> Evaluation:
    """Ask for a job to be looked at, since it lost allocations."""
    job = state.jobs[key]
    return Evaluation(
        id=eval_id,
        namespace=job.namespace,
        priority=job.priority,
        type=job.type,
        triggered_by=TRIGGER_PREEMPTION,
        job_id=job.id,
        job_modify_index=job.job_modify_index,
        status=EVAL_PENDING,
        create_time=now,
        modify_time=now,
    )
