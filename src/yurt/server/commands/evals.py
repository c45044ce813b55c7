"""Evaluations: deleted by hand, when there are too many of them."""

from __future__ import annotations

from collections.abc import Sequence

from yurt.errors import YurtError
from yurt.model.alloc import CLIENT_FAILED, CLIENT_RUNNING, CLIENT_UNKNOWN, Allocation
from yurt.model.evaluation import Evaluation
from yurt.model.job import JOB_DEAD, JobKey
from yurt.model.wire import EvalID
from yurt.scheduler.reconcile.alloc_facts import reschedule_policy
from yurt.scheduler.reconcile.reschedule_delay import is_enabled
from yurt.server.context import ServerContext
from yurt.state.entries import DeleteEvals
from yurt.state.state import State

DELETE_IDS_MAX = 7281


class EvalsRefused(YurtError):
    """The evaluations cannot be deleted."""


class EvalCommands:
    """What can be asked about evaluations."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def check_paused(self) -> None:
        """Make sure that nobody works on evaluations. Raises EvalsRefused."""
        if not self._context.state.scheduler_configuration.pause_eval_broker:
            raise EvalsRefused("eval broker is enabled; eval broker must be paused to delete evals")

    async def delete(self, eval_ids: Sequence[EvalID]) -> int:
        """Delete evaluations that nothing needs; returns the index. Raises EvalsRefused."""
        self.check_paused()
        state = self._context.state
        for eval_id in eval_ids:
            evaluation = state.evals.get(eval_id)
            if evaluation is None:
                raise EvalsRefused("eval not found")
            if not is_deletable(state, evaluation):
                raise EvalsRefused(f"eval {eval_id} is not safe to delete")
        index = 0
        for start in range(0, len(eval_ids), DELETE_IDS_MAX):
            part = tuple(eval_ids[start : start + DELETE_IDS_MAX])
            entry = DeleteEvals(at=self._context.clock.now_ns(), eval_ids=part)
            index = (await self._context.committer.propose(entry)).index
        return index


def is_deletable(state: State, evaluation: Evaluation) -> bool:
    """Whether an evaluation can go: its job is over, or nothing of it runs or may be placed anew."""
    key = JobKey(evaluation.namespace, evaluation.job_id)
    job = state.jobs.get(key)
    if job is None or job.stop or job.status == JOB_DEAD:
        return True
    return all(_lets_go(alloc) for alloc in state.allocs.of_job(key) if alloc.eval_id == evaluation.id)


def _lets_go(alloc: Allocation) -> bool:
    if alloc.client_status in (CLIENT_RUNNING, CLIENT_UNKNOWN):
        return False
    policy = reschedule_policy(alloc)
    if alloc.client_status != CLIENT_FAILED or policy is None or not is_enabled(policy):
        return True
    tracker = alloc.reschedule_tracker
    was_tried = tracker is not None and bool(tracker.events)
    return bool(alloc.next_allocation) and not policy.unlimited and was_tried
