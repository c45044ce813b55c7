"""Wait for the allocation that is being replaced, and take over its data."""

from __future__ import annotations

import asyncio

from yurt.agent.alloc_dir import AllocDirFailed
from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

logger = get_logger("alloc_runner")


class PreviousAllocHook(AllocHook):
    """Holds the start until the previous allocation on this node is over; moves a sticky disk."""

    name = "await_previous_allocations"

    def __init__(self, context: AllocContext) -> None:
        self._alloc = context.alloc
        self._previous = AllocID(context.alloc.previous_allocation)
        self._group = context.group
        self._node = context.node

    async def prerun(self) -> None:
        """Wait, then move the data. When that fails the tasks start without it, as on a new node."""
        if not await self._node.wait_until_over(self._previous):
            return
        disk = self._group.ephemeral_disk
        if not (disk.sticky or disk.migrate):
            return
        tasks = frozenset(task.name for task in self._group.tasks)
        try:
            await asyncio.to_thread(self._node.dirs.move_data, self._previous, self._alloc.id, tasks)
        except AllocDirFailed as error:
            logger.warning("alloc.data_not_moved", alloc_id=self._alloc.id, error=str(error))


def make(context: AllocContext) -> AllocHook | None:
    """Only replacements have a previous allocation."""
    return PreviousAllocHook(context) if context.alloc.previous_allocation else None
