"""A log that fails when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from yurt.log import Log, LogBusy, LogWriteFailed, MemoryLog
from yurt.log.contract import READ_BYTES_MAX


class FailingLog:
    """The Log contract over another log; while `fails`, what would be written is refused.

    With `appends_left` set, so many appends succeed before it begins to fail.
    """

    def __init__(self, inner: Log | None = None) -> None:
        self.inner: Log = inner or MemoryLog()
        self.fails = False
        self.appends_left: int | None = None
        self.is_busy = False
        self.refused = 0

    @property
    def first_index(self) -> int:
        return self.inner.first_index

    @property
    def last_index(self) -> int:
        return self.inner.last_index

    def append(self, entries: Sequence[bytes], on_durable: Callable[[int], None]) -> asyncio.Future[int]:
        if self.is_busy:
            raise LogBusy(waiting_entries=1, waiting_bytes=1)
        if self.appends_left is not None:
            self.fails = self.appends_left == 0
            self.appends_left = max(0, self.appends_left - 1)
        if not self.fails:
            return self.inner.append(entries, on_durable)
        self.refused += 1
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int] = loop.create_future()
        # Later, as a real disk does.
        loop.call_soon(_fail, future)
        return future

    def read(self, first: int, *, limit_bytes: int = READ_BYTES_MAX) -> list[tuple[int, bytes]]:
        return self.inner.read(first, limit_bytes=limit_bytes)

    async def compact(self, up_to: int) -> None:
        self._check()
        await self.inner.compact(up_to)

    async def reset(self, next_index: int) -> None:
        self._check()
        await self.inner.reset(next_index)

    async def close(self) -> None:
        await self.inner.close()

    def _check(self) -> None:
        if self.fails:
            raise _disk_full()


def _fail(future: asyncio.Future[int]) -> None:
    if not future.done():
        future.set_exception(_disk_full())


def _disk_full() -> LogWriteFailed:
    return LogWriteFailed(Path("log.db"), reason="disk full", advice="free space")
