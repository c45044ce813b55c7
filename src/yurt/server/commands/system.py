"""Tidying up: what nobody needs is forgotten, what was counted is counted again."""

from __future__ import annotations

from yurt.server.context import ServerContext
from yurt.server.watchers.core_gc import collect_garbage
from yurt.state.entries import ReconcileSummaries


class SystemCommands:
    """What can be asked about the whole State."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def collect_garbage(self) -> None:
        """Delete everything that is not needed, however young."""
        await collect_garbage(self._context)

    async def reconcile_summaries(self) -> int:
        """Count the allocations of all jobs anew; returns the index."""
        entry = ReconcileSummaries(at=self._context.clock.now_ns())
        return (await self._context.committer.propose(entry)).index
