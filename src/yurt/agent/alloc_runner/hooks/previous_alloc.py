"""Wait for the allocations that are being replaced, and take over the data of the previous one."""

from __future__ import annotations

import asyncio

from yurt.agent.alloc_dir import AllocDirFailed
from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook
from yurt.agent.migration import MigrationFailed, fetch_snapshot, take_over
from yurt.model.client_protocol import PreviousAlloc
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

logger = get_logger("alloc_runner")


class PreviousAllocHook(AllocHook):
    """Holds the start until what is replaced is over; moves a sticky disk, fetches one that migrates."""

    name = "await_previous_allocations"

    def __init__(self, context: AllocContext) -> None:
        self._alloc = context.alloc
        self._previous = AllocID(context.alloc.previous_allocation)
        self._group = context.group
        # Then they may have changed what was moved, before the agent was restarted.
        self._has_begun = context.has_begun
        self._node = context.node

    async def prerun(self) -> None:
        """Wait, then move the data. When that fails the tasks start without it, as on a new node."""
        for preempted in self._alloc.preempted_allocations:
            await self._node.wait_until_over(AllocID(preempted))
        if not self._previous or self._has_begun:
            return
        disk = self._group.ephemeral_disk
        try:
            if await self._node.wait_until_over(self._previous):
                if disk.sticky or disk.migrate:
                    await self._move()
            elif disk.migrate:
                previous = await self._node.wait_for_previous(self._alloc.id)
                if previous.address:
                    await self._fetch(previous)
        except (AllocDirFailed, MigrationFailed) as error:
            logger.warning("alloc.data_not_moved", alloc_id=self._alloc.id, error=str(error))

    async def _move(self) -> None:
        tasks = frozenset(task.name for task in self._group.tasks)
        await asyncio.to_thread(self._node.dirs.move_data, self._previous, self._alloc.id, tasks)

    async def _fetch(self, previous: PreviousAlloc) -> None:
        scheme = "https" if previous.uses_tls else "http"
        url = f"{scheme}://{previous.address}/v1/client/allocation/{self._previous}/snapshot"
        tls = self._node.peer_tls() if previous.uses_tls else None
        name = f"client.{self._node.settings.region}.nomad" if tls is not None else ""
        await take_over(
            fetch_snapshot(url, previous.token, tls=tls, name=name),
            self._node.dirs.path(self._alloc.id),
            self._previous,
            [task.name for task in self._group.tasks],
        )
        logger.info("alloc.data_fetched", alloc_id=self._alloc.id, previous=self._previous)


def make(context: AllocContext) -> AllocHook | None:
    """Only replacements have somebody to wait for."""
    alloc = context.alloc
    return PreviousAllocHook(context) if alloc.previous_allocation or alloc.preempted_allocations else None
