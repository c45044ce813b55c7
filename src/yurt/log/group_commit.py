"""The thread that writes a log's file: appends that wait together become one transaction, one sync."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from yurt.log.delivery import Append
from yurt.log.entry_file import EntryFile
from yurt.log.errors import LogWriteFailed

# A transaction takes no more appends once it holds this much: all it commits is announced, and applied, in
# one turn of the event loop.
BATCH_ENTRIES_MAX = 4_096
BATCH_BYTES_MAX = 16 * 1024 * 1024


class Compact(NamedTuple):
    """A wish to drop the entries up to and with `up_to`."""

    up_to: int
    future: asyncio.Future[None]


class Reset(NamedTuple):
    """A wish to drop all entries and to go on with `next_index`."""

    next_index: int
    future: asyncio.Future[None]


class Close(NamedTuple):
    """The last job."""


Job = Append | Compact | Reset | Close


class Committed(NamedTuple):
    """These appends are durable; the first entry of the first one is `first_index`."""

    batch: list[Append]
    first_index: int


class Refused(NamedTuple):
    """Nothing of these appends is in the log."""

    batch: list[Append]
    error: LogWriteFailed


class Changed(NamedTuple):
    """The log now runs from `first_index` to `last_index`; `error` says why that is not what was wished."""

    job: Compact | Reset
    first_index: int
    last_index: int
    error: LogWriteFailed | None


class Closed(NamedTuple):
    """The file is closed; `unfinished` were not carried out to their end."""

    unfinished: list[Compact]


Outcome = Committed | Refused | Changed | Closed


class GroupCommit:
    """Does jobs on `file` in their order, in a thread of its own, and reports each outcome.

    `report` is called in that thread, once for each batch of appends and each other job, in the order in
    which the file changed. After a Close no job may follow.
    """

    def __init__(self, file: EntryFile, report: Callable[[Outcome], object]) -> None:
        self._file = file
        self._report = report
        self._queue: queue.SimpleQueue[Sequence[Job]] = queue.SimpleQueue()
        # A daemon, so that an agent that ends without close() does not hang; nothing acknowledged is lost.
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
        self._thread.start()

    def put(self, *jobs: Job) -> None:
        """Have `jobs` done after all earlier ones. The caller bounds how much waits."""
        self._queue.put(jobs)

    def join(self) -> None:
        """Wait for the end of the thread; blocks unless Closed has been reported."""
        self._thread.join()

    def _run(self) -> None:
        jobs: deque[Job] = deque()
        while True:
            if not jobs:
                jobs.extend(self._queue.get())
            with contextlib.suppress(queue.Empty):
                while True:
                    jobs.extend(self._queue.get_nowait())
            job = jobs.popleft()
            match job:
                case Append():
                    self._commit(_batch(job, jobs))
                case Compact():
                    if not self._compact(job):
                        jobs.append(job)  # behind the appends that wait, so that they go between
                case Reset():
                    self._reset(job)
                case Close():
                    self._file.close()
                    self._report(Closed([job for job in jobs if isinstance(job, Compact)]))
                    return
                case _:
                    assert_never(job)

    def _commit(self, batch: list[Append]) -> None:
        try:
            first_index = self._file.append([entry for append in batch for entry in append.entries])
        except LogWriteFailed as error:
            self._report(Refused(batch, error))
        else:
            self._report(Committed(batch, first_index))

    def _compact(self, job: Compact) -> bool:
        try:
            is_done = self._file.drop(job.up_to)
        except LogWriteFailed as error:
            self._report_changed(job, error)
            return True
        if is_done:
            self._report_changed(job, None)
        return is_done

    def _reset(self, job: Reset) -> None:
        try:
            self._file.reset(job.next_index)
        except LogWriteFailed as error:
            self._report_changed(job, error)
        else:
            self._report_changed(job, None)

    def _report_changed(self, job: Compact | Reset, error: LogWriteFailed | None) -> None:
        self._report(Changed(job, self._file.base.index + 1, self._file.head.index, error))


def _batch(first: Append, jobs: deque[Job]) -> list[Append]:
    """Take from `jobs` the appends that share a transaction with `first`."""
    batch, entries, size_bytes = [first], len(first.entries), first.size_bytes
    while jobs and entries < BATCH_ENTRIES_MAX and size_bytes < BATCH_BYTES_MAX:
        job = jobs[0]
        if not isinstance(job, Append):
            break
        jobs.popleft()
        batch.append(job)
        entries += len(job.entries)
        size_bytes += job.size_bytes
    return batch
