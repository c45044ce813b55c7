"""Pacing of watchers: they look when something changed, but not all the time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from yurt.log.errors import LogWriteFailed
from yurt.observe.logger import get_logger
from yurt.server.context import ServerContext
from yurt.state.entries import Entry

# A watcher that looks at much waits accordingly: it takes at most this share of the loop's time.
TIME_SHARE_MAX = 0.1
PROPOSED_AT_ONCE_MAX = 64

logger = get_logger("watchers")


class Pacer:
    """Wakes a watcher when any of some tables changed, at most once in a while.

    A wake-up only says "look again". After it, the watcher is held for `batch_s`, or longer if its
    last look took long, so that what arrives together is looked at together.
    """

    def __init__(self, context: ServerContext, tables: Sequence[str], *, batch_s: float) -> None:
        self._context = context
        self._tables = tables
        self._batch_s = batch_s
        self._changed = asyncio.Event()
        self._began = context.clock.monotonic()

    async def __aenter__(self) -> Self:
        keys = [(table, None) for table in self._tables]
        self._cancel = self._context.state.watches.add(keys, self._changed.set)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cancel()

    async def wait(self, at_most_s: float) -> None:
        """Wait for a change, or for a while."""
        clock = self._context.clock
        took_s = clock.monotonic() - self._began
        try:
            async with asyncio.timeout(at_most_s):
                await self._changed.wait()
        except TimeoutError:
            pass
        else:
            await clock.sleep(max(self._batch_s, took_s * (1 / TIME_SHARE_MAX - 1)))
        self._changed.clear()
        self._began = clock.monotonic()

    async def propose_each(self, entries: Sequence[Entry]) -> None:
        """Propose entries, each by itself; what cannot be written now is found again later.

        Some go together, so that they share the wait for the disk.
        """
        for first in range(0, len(entries), PROPOSED_AT_ONCE_MAX):
            some = entries[first : first + PROPOSED_AT_ONCE_MAX]
            if not all(await asyncio.gather(*map(self._propose, some))):
                return

    async def _propose(self, entry: Entry) -> bool:
        try:
            await self._context.committer.propose(entry)
        except LogWriteFailed as error:
            logger.error("step.not_written", entry=type(entry).__name__, error=str(error))
            return False
        return True
