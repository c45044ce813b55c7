"""Allocations: stopped by hand."""

from __future__ import annotations

import msgspec

from yurt.errors import YurtError
from yurt.model.alloc import DesiredTransition
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_ALLOC_STOP, Evaluation
from yurt.model.wire import AllocID, EvalID
from yurt.server.context import ServerContext
from yurt.state.entries import SetDesiredTransitions


class AllocNotFound(YurtError):
    """There is no such allocation."""

    def __init__(self) -> None:
        super().__init__("allocation not found")


class AllocStopped(msgspec.Struct, frozen=True, kw_only=True):
    """An allocation is on its way out."""

    eval_id: str
    index: int


class AllocCommands:
    """What can be asked about allocations."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def stop(
        self, alloc_id: AllocID, *, no_shutdown_delay: bool = False, reschedule: bool = False
    ) -> AllocStopped:
        """Have an allocation stopped and placed anew. Raises AllocNotFound."""
        context = self._context
        alloc = context.state.allocs.get(alloc_id)
        if alloc is None:
            raise AllocNotFound
        job = context.state.jobs.get(alloc.job_key) or alloc.job
        now = context.clock.now_ns()
        evaluation = Evaluation(
            id=EvalID(context.new_id()),
            namespace=job.namespace,
            priority=job.priority,
            type=job.type,
            triggered_by=TRIGGER_ALLOC_STOP,
            job_id=job.id,
            job_modify_index=job.modify_index,
            status=EVAL_PENDING,
            create_time=now,
            modify_time=now,
        )
        transition = DesiredTransition(
            migrate=True, reschedule=True if reschedule else None, no_shutdown_delay=no_shutdown_delay
        )
        entry = SetDesiredTransitions(at=now, transitions={alloc_id: transition}, evals=(evaluation,))
        committed = await context.committer.propose(entry)
        return AllocStopped(eval_id=evaluation.id, index=committed.index)
