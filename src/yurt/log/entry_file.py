"""The SQLite file that keeps the entries of a log, for one writing thread."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from yurt.log.contract import READ_BYTES_MAX
from yurt.log.entry_rows import (
    APPLICATION_ID,
    FORMAT_VERSION,
    SCHEMA,
    Meta,
    Statement,
    chained_crc,
    crc_at,
    insert_statements,
    meta_statement,
    read_head,
    read_meta,
    read_rows,
)
from yurt.log.errors import DataDirNotWritable, LogCorrupt, LogFormatTooNew, LogWriteFailed
from yurt.log.mark import Mark, Position, read_mark
from yurt.log.sqlite_errors import open_errors, write_errors

ENTRIES_FILE = "entries.db"
# How many of the newest entries are verified when the file is opened; the others are when they are read.
TAIL_CHECK_ENTRIES = 256
# Entries dropped in one transaction: appends wait for it.
DROP_ENTRIES_MAX = 1000
# The write-ahead file is cut back to this after a burst; otherwise it keeps its largest size for ever.
WAL_KEPT_BYTES = 64 * 1024 * 1024

# Larger than SQLite's own 4 KiB: entries of a kilobyte and more fill pages better and are written a third
# faster, small ones no slower (the sync is what costs).
PAGE_BYTES = 16 * 1024
# Pages in the write-ahead file, 16 MiB of them, after which a commit also moves them to the main file.
CHECKPOINT_PAGES = 1000


class EntryFile:
    """The entries in `directory`, open for writing. Blocks; one thread uses it at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, meta: Meta, head: Position) -> None:
        self.path = path
        self._connection = connection
        self._meta = meta
        self._head = head
        self._mark = Mark.open(path.parent, head)
        self._outcome_unknown = False

    @classmethod
    def open(cls, directory: Path) -> EntryFile:
        """Open the file in `directory`, or make it.

        The caller must own `directory`. Raises LogCorrupt if the newest entries are not what was
        acknowledged, LogFormatTooNew, DataDirNotWritable, or LogWriteFailed.
        """
        path = directory / ENTRIES_FILE
        with open_errors(path), contextlib.ExitStack() as on_failure:
            mark = read_mark(directory)
            connection = connect(path)
            on_failure.callback(connection.close)
            is_new = _is_new(connection, path, has_mark=mark is not None)
            _use_wal(connection, path)
            if is_new:
                _create(connection)
            meta = read_meta(connection, path)
            head = _checked_head(connection, path, base=meta.base, mark=mark)
            opened = cls(path, connection, meta=meta, head=head)
            on_failure.pop_all()
        return opened

    @property
    def base(self) -> Position:
        """The position before the oldest entry kept."""
        return self._meta.base

    @property
    def head(self) -> Position:
        """The position of the newest entry, or `base` if there is none."""
        return self._head

    def append(self, entries: Sequence[bytes]) -> int:
        """Write `entries` durably and return the index of the first, or raise LogWriteFailed."""
        index, crc = self._head.index, self._head.crc
        rows: list[int | bytes] = []
        for payload in entries:
            index += 1
            crc = chained_crc(crc, index, payload)
            rows += (index, crc, payload)
        first = self._head.index + 1
        self._transact(insert_statements(rows), meta=self._meta, head=Position(index, crc))
        return first

    def drop(self, up_to: int) -> bool:
        """Drop the oldest entries, at most to `up_to`; True once all of those are gone.

        Drops a bounded number, so that appends can go between. Raises LogWriteFailed.
        """
        last = min(up_to, self.base.index + DROP_ENTRIES_MAX)
        if last <= self.base.index:
            return True
        with write_errors(self.path):
            base = Position(last, crc_at(self._connection, self.path, last, self.base))
        meta = self._meta._replace(base=base)
        delete: Statement = ("DELETE FROM entries WHERE entry_index <= ?", (last,))
        self._transact([delete, meta_statement(meta)], meta=meta, head=self._head)
        return last == up_to

    def reset(self, next_index: int) -> None:
        """Drop all entries and go on with `next_index`, or raise LogWriteFailed."""
        base = Position(next_index - 1, 0)
        meta = self._meta._replace(base=base)
        self._transact([("DELETE FROM entries", ()), meta_statement(meta)], meta=meta, head=base)

    def close(self) -> None:
        self._mark.close()
        self._connection.close()

    def _transact(self, statements: Sequence[Statement], *, meta: Meta, head: Position) -> None:
        """Run `statements`, which leave the file with `meta` and `head`, durably and all, or none of them."""
        if self._outcome_unknown:
            raise LogWriteFailed(
                self.path,
                reason="an earlier write failed and the file could not be read back",
                advice="check the disk, then restart the agent: it checks the log as it starts",
            )
        with write_errors(self.path):
            try:
                run_transaction(self._connection, statements)
            except (sqlite3.Error, MemoryError):
                if not self._is_persisted(meta, head):
                    raise
        self._meta, self._head = meta, head
        self._mark.move(head)

    def _is_persisted(self, meta: Meta, head: Position) -> bool:
        """After a failed write: say whether the file holds what was written, and undo it if not."""
        self._outcome_unknown = True
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        found = read_meta(self._connection, self.path)
        found_head = read_head(self._connection, found.base)
        if (found.base, found_head) == (meta.base, head):
            self._outcome_unknown = False
            return True
        if (found.base, found_head) != (self.base, self.head):
            raise LogCorrupt(self.path, index=found_head.index, problem="a write was kept in part")
        self._outcome_unknown = False
        # The failed write may sit whole in the write-ahead file, unknown to SQLite until the next start.
        # Any write goes over it. If this one fails as well, the next append does it.
        self._meta = found._replace(write_failures=found.write_failures + 1)
        with contextlib.suppress(sqlite3.Error):
            run_transaction(self._connection, [meta_statement(self._meta)])
        return False


class EntryReader:
    """The entries in a file that an EntryFile may be writing to. Blocks; one thread uses it at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path)
        self._connection.execute("PRAGMA query_only = ON")

    def read(self, first: int, last: int, *, limit_bytes: int) -> list[tuple[int, bytes]]:
        """Return the entries `first` to `last`, fewer if `limit_bytes` is reached, each one verified."""
        try:
            with _read_transaction(self._connection):
                return read_rows(
                    self._connection, self._path, first=first, last=last, limit_bytes=limit_bytes
                )
        except sqlite3.Error as error:
            raise LogCorrupt(self._path, index=None, problem=f"it cannot be read: {error}") from error

    def close(self) -> None:
        self._connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection as a log needs it: every commit is synced before it returns."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.text_factory = bytes  # a damaged type must fail its checksum, not the decoder
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # of a file still to be made
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_KEPT_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


def run_transaction(connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
    """Run `statements` and make what they did durable."""
    if len(statements) == 1:  # SQLite makes it a transaction of its own, at a third of the round trips
        connection.execute(*statements[0])
        return
    connection.execute("BEGIN IMMEDIATE")
    for statement in statements:
        connection.execute(*statement)
    connection.execute("COMMIT")


def _is_new(connection: sqlite3.Connection, path: Path, *, has_mark: bool) -> bool:
    """Say whether the file is still to be made; raise unless it is that or a log that this version reads."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT_VERSION:
        raise LogFormatTooNew(path, found=found, supported=FORMAT_VERSION)
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if found == 0 and tables == 0 and not has_mark:
        return True
    if found != FORMAT_VERSION or connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        problem = "the file is missing, not a log of Yurt, or damaged at its beginning"
        raise LogCorrupt(path, index=None, problem=problem)
    return False


def _use_wal(connection: sqlite3.Connection, path: Path) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode not in ("wal", b"wal"):
        raise DataDirNotWritable(path.parent, reason="its file system does not support SQLite's WAL mode")


def _create(connection: sqlite3.Connection) -> None:
    first_meta = meta_statement(Meta(Position(0, 0), write_failures=0))
    run_transaction(connection, [*((statement, ()) for statement in SCHEMA), first_meta])
    # Into the main file at once: a lost write-ahead file must not look like a log never used.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _checked_head(
    connection: sqlite3.Connection, path: Path, *, base: Position, mark: Position | None
) -> Position:
    """Return the position of the newest entry, or raise LogCorrupt if the newest entries are not sound."""
    with _read_transaction(connection):
        head = read_head(connection, base)
        oldest = connection.execute("SELECT min(entry_index) FROM entries").fetchone()[0]
        if oldest not in (None, base.index + 1):
            raise LogCorrupt(
                path, index=base.index + 1, problem=f"the entry is missing, {oldest} is the oldest"
            )
        if mark is not None:
            _check_mark(connection, path, base=base, head=head, mark=mark)
        first = max(base.index + 1, head.index - TAIL_CHECK_ENTRIES + 1)
        while first <= head.index:
            rows = read_rows(connection, path, first=first, last=head.index, limit_bytes=READ_BYTES_MAX)
            first = rows[-1][0] + 1
    return head


def _check_mark(
    connection: sqlite3.Connection, path: Path, *, base: Position, head: Position, mark: Position
) -> None:
    if mark.index > head.index:
        problem = f"entries up to {mark.index} were acknowledged, but the file ends at {head.index}"
        raise LogCorrupt(path, index=head.index + 1, problem=problem)
    if mark.index >= base.index and crc_at(connection, path, mark.index, base) != mark.crc:
        raise LogCorrupt(path, index=mark.index, problem="it is not the entry that was acknowledged")


@contextlib.contextmanager
def _read_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Hold one view of the file, however many statements look at it."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
