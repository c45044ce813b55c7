"""A log that lives as long as its process: for development mode, tests and simulations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from yurt.log.contract import READ_BYTES_MAX
from yurt.log.delivery import Append, check_sizes, deliver
from yurt.log.errors import EntriesCompacted, LogClosed


class MemoryLog:
    """The Log contract on a list: "durable" here means until the process ends."""

    def __init__(self) -> None:
        self._base_index = 0  # the index before the oldest entry kept
        self._entries: list[bytes] = []
        self._waiting: list[Append] = []
        self._closed = False

    @property
    def first_index(self) -> int:
        return self._base_index + 1

    @property
    def last_index(self) -> int:
        return self._base_index + len(self._entries)

    def append(self, entries: Sequence[bytes], on_durable: Callable[[int], None]) -> asyncio.Future[int]:
        if self._closed:
            raise LogClosed
        size_bytes = check_sizes(entries)
        loop = asyncio.get_running_loop()
        append = Append(entries, size_bytes, on_durable, loop.create_future())
        # Later, as every other log does, so that what works here works there.
        if not self._waiting:
            loop.call_soon(self._deliver)
        self._waiting.append(append)
        return append.future

    def read(self, first: int, *, limit_bytes: int = READ_BYTES_MAX) -> list[tuple[int, bytes]]:
        if self._closed:
            raise LogClosed
        if first < self.first_index:
            raise EntriesCompacted(first, first_index=self.first_index)
        found: list[tuple[int, bytes]] = []
        size = 0
        for index in range(first, self.last_index + 1):
            payload = self._entries[index - self.first_index]
            size += len(payload)
            if found and size > limit_bytes:
                break
            found.append((index, payload))
        return found

    async def compact(self, up_to: int) -> None:
        if self._closed:
            raise LogClosed
        assert up_to <= self.last_index, f"compact to {up_to}, but the log ends at {self.last_index}"
        dropped = up_to - self._base_index
        if dropped > 0:
            del self._entries[:dropped]
            self._base_index = up_to

    async def reset(self, next_index: int) -> None:
        if self._closed:
            raise LogClosed
        assert not self._waiting, "reset while appends are waiting"
        assert next_index > self.last_index, f"reset to {next_index}, but the log ends at {self.last_index}"
        self._entries.clear()
        self._base_index = next_index - 1

    async def close(self) -> None:
        self._closed = True
        self._deliver()

    def _deliver(self) -> None:
        waiting, self._waiting = self._waiting, []
        for append in waiting:
            first = self.last_index + 1
            self._entries.extend(append.entries)
            deliver(append, first)
