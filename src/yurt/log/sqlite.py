"""The log in a SQLite file: the embedded default, nothing to install."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import assert_never

from yurt.errors import YurtError
from yurt.log.contract import READ_BYTES_MAX
from yurt.log.data_dir import DataDirLock
from yurt.log.delivery import Append, check_sizes, deliver, fail
from yurt.log.entry_file import EntryFile, EntryReader
from yurt.log.errors import EntriesCompacted, LogBusy, LogClosed, LogWriteFailed
from yurt.log.group_commit import (
    Changed,
    Close,
    Closed,
    Committed,
    Compact,
    GroupCommit,
    Outcome,
    Refused,
    Reset,
)
from yurt.log.sqlite_errors import open_errors

# An append is refused while this much waits for the disk: memory stays bounded, callers hear of it at once.
WAITING_ENTRIES_MAX = 65_536
WAITING_BYTES_MAX = 256 * 1024 * 1024
# A thread may keep the interpreter to itself for this long when another one wants it. With CPython's own
# 5 ms, an event loop that always has work keeps the writing thread, which needs it a few times for every
# commit, waiting for seconds.
SWITCH_INTERVAL_S_MAX = 0.0005


class SqliteLog:
    """The Log contract on one SQLite file, made with `open()`; a thread of its own does the writing."""

    def __init__(self, lock: DataDirLock, file: EntryFile, reader: EntryReader) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = lock
        self._reader = reader
        self._first_index = file.base.index + 1
        self._last_index = file.head.index
        self._waiting_entries = 0
        self._waiting_bytes = 0
        self._commits = 0
        self._closed: asyncio.Future[None] | None = None
        # Appends that wait for the batch before them: what gathers meanwhile shares one transaction.
        self._gathering: list[Append] = []
        self._is_writing = False
        # The file is the writing thread's alone from here on.
        self._writer = GroupCommit(file, lambda outcome: self._loop.call_soon_threadsafe(self._take, outcome))

    @classmethod
    async def open(cls, directory: Path) -> SqliteLog:
        """Open the log in `directory`, which becomes its alone, or make a new one.

        Raises DataDirLocked, DataDirNotWritable, LogFormatTooNew, LogWriteFailed (a full disk), and
        LogCorrupt if the newest entries are not what was acknowledged; older ones are verified by `read`.
        Lowers the interpreter's switch interval for the whole process.
        """
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S_MAX))
        return cls(*await asyncio.to_thread(_open_files, directory))

    @property
    def first_index(self) -> int:
        return self._first_index

    @property
    def last_index(self) -> int:
        return self._last_index

    @property
    def commits(self) -> int:
        """How many transactions of appends have been written since the log was opened, one sync each."""
        return self._commits

    def append(self, entries: Sequence[bytes], on_durable: Callable[[int], None]) -> asyncio.Future[int]:
        if self._closed is not None:  # written out: this is the one path with a cost for every write
            raise LogClosed
        size_bytes = check_sizes(entries)
        if self._waiting_entries >= WAITING_ENTRIES_MAX or self._waiting_bytes >= WAITING_BYTES_MAX:
            raise LogBusy(waiting_entries=self._waiting_entries, waiting_bytes=self._waiting_bytes)
        self._waiting_entries += len(entries)
        self._waiting_bytes += size_bytes
        future: asyncio.Future[int] = self._loop.create_future()
        self._gathering.append(Append(entries, size_bytes, on_durable, future))
        if not self._is_writing:
            self._is_writing = True
            self._loop.call_soon(self._hand_over)
        return future

    def read(self, first: int, *, limit_bytes: int = READ_BYTES_MAX) -> list[tuple[int, bytes]]:
        self._check_open()
        if first < self._first_index:
            raise EntriesCompacted(first, first_index=self._first_index)
        return self._reader.read(first, self._last_index, limit_bytes=limit_bytes)

    async def compact(self, up_to: int) -> None:
        self._check_open()
        assert up_to <= self._last_index, f"compact to {up_to}, but the log ends at {self._last_index}"
        job = Compact(up_to, self._loop.create_future())
        self._writer.put(job)
        await job.future

    async def reset(self, next_index: int) -> None:
        self._check_open()
        assert not self._waiting_entries, "reset while appends are waiting"
        assert next_index > self._last_index, f"reset to {next_index}, but the log ends at {self._last_index}"
        job = Reset(next_index, self._loop.create_future())
        self._writer.put(job)
        await job.future

    async def close(self) -> None:
        if self._closed is None:
            self._closed = self._loop.create_future()
            self._hand_over()
            self._reader.close()  # before the writer: the last to close is who tidies the file up
            self._writer.put(Close())
        await asyncio.shield(self._closed)

    def _hand_over(self) -> None:
        """Give the writer everything that gathered; one batch of appends is on its way at a time."""
        self._is_writing = bool(self._gathering)
        if self._gathering:
            self._writer.put(*self._gathering)
            self._gathering = []

    def _check_open(self) -> None:
        if self._closed is not None:
            raise LogClosed

    def _take(self, outcome: Outcome) -> None:
        """Pass an outcome on to those who wait for it; runs in the loop's thread, in the file's order."""
        match outcome:
            case Committed(batch, first_index):
                self._commits += 1
                self._forget(batch)
                for append in batch:
                    self._last_index = first_index + len(append.entries) - 1
                    deliver(append, first_index)
                    first_index = self._last_index + 1
                self._hand_over()
            case Refused(batch, error):
                self._forget(batch)
                for append in batch:
                    # One error each: a shared one would gather the tracebacks of all who raise it.
                    fail(append, LogWriteFailed(error.path, reason=error.reason, advice=error.advice))
                self._hand_over()
            case Changed(job, first_index, last_index, failure):
                self._first_index, self._last_index = first_index, last_index
                _settle(job.future, failure)
            case Closed(unfinished):
                for job in unfinished:
                    _settle(job.future, LogClosed())
                self._writer.join()
                self._lock.release()
                assert self._closed is not None, "the writer ends only when told to"
                self._closed.set_result(None)
            case _:
                assert_never(outcome)

    def _forget(self, batch: Sequence[Append]) -> None:
        self._waiting_entries -= sum([len(append.entries) for append in batch])
        self._waiting_bytes -= sum([append.size_bytes for append in batch])


def _open_files(directory: Path) -> tuple[DataDirLock, EntryFile, EntryReader]:
    with contextlib.ExitStack() as on_failure:
        lock = DataDirLock.acquire(directory)
        on_failure.callback(lock.release)
        file = EntryFile.open(directory)
        on_failure.callback(file.close)
        with open_errors(file.path):
            reader = EntryReader(file.path)
        on_failure.pop_all()
    return lock, file, reader


def _settle(future: asyncio.Future[None], error: YurtError | None) -> None:
    if future.done():  # cancelled: nobody waits any more
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
