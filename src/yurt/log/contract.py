"""What every log promises, whatever engine keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

# One entry is decoded and applied in one go on the event loop; larger ones would stall it.
ENTRY_BYTES_MAX = 64 * 1024 * 1024
# What one read() returns at most, beyond its first entry, unless the caller asks otherwise.
READ_BYTES_MAX = 4 * 1024 * 1024


class Log(Protocol):
    """An ordered list of byte strings, numbered from 1 without gaps, durable before it is acknowledged.

    All methods are called from the thread of the event loop that opened the log.
    """

    @property
    def first_index(self) -> int:
        """The oldest entry kept; `last_index + 1` when there is none."""

    @property
    def last_index(self) -> int:
        """The newest durable entry that has been announced; 0 in a new log."""

    def append(self, entries: Sequence[bytes], on_durable: Callable[[int], None]) -> asyncio.Future[int]:
        """Append `entries` (at least one), all or none, with indexes that follow each other.

        The caller leaves `entries` unchanged from here on. Once they are durable,
        `on_durable(index of the first)` runs in the loop's thread, in index order across all appends,
        whether or not somebody still awaits the future; then the future has that index. `on_durable` must
        not raise: what it raises is what the future raises.
        On failure `on_durable` is not called, nothing of this append is in the log, and the future raises
        LogWriteFailed. LogBusy, LogClosed and EntryTooLarge are raised at once, by the call.
        """

    def read(self, first: int, *, limit_bytes: int = READ_BYTES_MAX) -> list[tuple[int, bytes]]:
        """Return entries from `first` (at least 1) on, in index order, with their indexes.

        The list ends before the entry that would make it exceed `limit_bytes`, but holds at least one
        entry if there is one; it is empty only when `first` is past `last_index`. To read on, ask again
        from the last index + 1. Raises EntriesCompacted if `first` is before `first_index`, LogCorrupt if
        an entry is not what was written.
        """

    async def compact(self, up_to: int) -> None:
        """Drop the entries up to and with `up_to`, which must not be past `last_index`.

        Appends go on meanwhile. Raises LogWriteFailed when the disk refuses; some entries may be gone then.
        """

    async def reset(self, next_index: int) -> None:
        """Drop all entries; the next one is `next_index`. No append may be waiting.

        `next_index` must be past `last_index`: indexes never run backwards, so that a snapshot written
        under a new index just before this call wins over the old entries if the agent dies in between.
        """

    async def close(self) -> None:
        """Finish what was appended, then release everything; later calls raise LogClosed."""
