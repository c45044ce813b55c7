"""Delete ended allocations while there is too little room."""

from __future__ import annotations

import asyncio

from yurt.agent.alloc_set import AllocSet
from yurt.agent.garbage import DiskUsage, EndedAlloc, disk_usage, is_over_limit, oldest
from yurt.agent.node_context import NodeContext
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID

# Looking at the disk takes a thread; counting allocations does not.
DISK_USAGE_AGE_MAX_S = 5.0
DELAY_S = 0.5


class GarbageCollector:
    """Keeps the node's ended allocations within its limits, and deletes them on demand."""

    def __init__(self, node: NodeContext, allocs: AllocSet) -> None:
        self._node = node
        self._settings = node.settings.gc
        self._allocs = allocs
        self._usage: tuple[float, DiskUsage] | None = None

    async def run(self) -> None:
        """Delete ended allocations, oldest first, while there is too little room; until cancelled."""
        interval_s = self._settings.interval / SECOND_NS
        while True:
            due = asyncio.ensure_future(self._allocs.garbage_expected.wait())
            try:
                await self._node.sleep_until_done(interval_s, due)
            finally:
                due.cancel()
            # What has just come should start first.
            await self._node.clock.sleep(DELAY_S)
            self._allocs.garbage_expected.clear()
            # The limits first, as there may be many allocations to look through.
            while await self._is_over_limit() and (ended := self._allocs.deletable):
                finished = [EndedAlloc(runner.alloc.id, runner.finished_ns) for runner in ended]
                await self._allocs.destroy(self._allocs.get(oldest(finished)))

    async def collect(self, alloc_id: AllocID) -> bool:
        """Delete an allocation that is over; False when it still runs, or the servers do not know yet.

        Raises AllocUnknown.
        """
        runner = self._allocs.get(alloc_id)
        if runner not in self._allocs.deletable:
            return False
        await self._allocs.destroy(runner)
        return True

    async def collect_all(self) -> None:
        """Delete every allocation that is over."""
        await asyncio.gather(*(self._allocs.destroy(runner) for runner in self._allocs.deletable))

    async def _is_over_limit(self) -> bool:
        now = self._node.clock.monotonic()
        if self._usage is None or now - self._usage[0] > DISK_USAGE_AGE_MAX_S:
            self._usage = (now, await asyncio.to_thread(disk_usage, self._node.settings.alloc_dir))
        return is_over_limit(self._settings, self._usage[1], allocs=self._allocs.count)
