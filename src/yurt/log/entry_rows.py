"""The tables of a log file, and what every row in them must satisfy."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from yurt.log.errors import EntriesCompacted, LogCorrupt
from yurt.log.mark import Position

FORMAT_VERSION = 1
APPLICATION_ID = 0x59555254  # "YURT", in the header of the file

SCHEMA: tuple[str, ...] = (
    "CREATE TABLE entries (entry_index INTEGER PRIMARY KEY, crc INTEGER NOT NULL, payload BLOB NOT NULL)",
    # One row. base_*: the position before the oldest entry kept. row_crc: of the row's other columns.
    "CREATE TABLE meta (id INTEGER PRIMARY KEY, format INTEGER NOT NULL, base_index INTEGER NOT NULL, "
    "base_crc INTEGER NOT NULL, write_failures INTEGER NOT NULL, row_crc INTEGER NOT NULL)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT_VERSION}",
)

# The rows that one INSERT may have. sqlite3 gives up the interpreter lock around every statement and then
# has to win it back from the event loop, so few large statements beat many small ones; and few different
# ones stay prepared. 3 x 256 variables are below the 999 that the oldest SQLite in use takes.
_INSERT_ROWS = (256, 128, *range(64, 0, -1))
_INSERT = {
    rows: "INSERT INTO entries (entry_index, crc, payload) VALUES (?,?,?)" + ",(?,?,?)" * (rows - 1)
    for rows in _INSERT_ROWS
}

# SQL and its parameters.
Statement = tuple[str, Sequence[int | bytes]]


class Meta(NamedTuple):
    """The row of facts about the file."""

    base: Position
    write_failures: int


def chained_crc(previous: int, index: int, payload: bytes) -> int:
    """The checksum of all entries up to this one, given that of all before it."""
    return zlib.crc32(payload, zlib.crc32(index.to_bytes(8), previous))


def insert_statements(rows: Sequence[int | bytes]) -> list[Statement]:
    """Say how to insert `rows`: index, checksum and payload of each entry, one after the other."""
    statements: list[Statement] = []
    at, left = 0, len(rows) // 3
    while left:
        count = next(count for count in _INSERT_ROWS if count <= left)
        statements.append((_INSERT[count], rows[at : at + 3 * count]))
        at += 3 * count
        left -= count
    return statements


def meta_statement(meta: Meta) -> Statement:
    """Say how to store `meta`."""
    row = (FORMAT_VERSION, meta.base.index, meta.base.crc, meta.write_failures)
    return (
        "REPLACE INTO meta (id, format, base_index, base_crc, write_failures, row_crc) "
        "VALUES (1, ?, ?, ?, ?, ?)",
        (*row, _row_crc(row)),
    )


def read_meta(connection: sqlite3.Connection, path: Path) -> Meta:
    """Return the facts about the file, or raise LogCorrupt."""
    rows = connection.execute(
        "SELECT format, base_index, base_crc, write_failures, row_crc FROM meta"
    ).fetchall()
    if len(rows) != 1 or rows[0][-1] != _row_crc(rows[0][:-1]):
        raise LogCorrupt(path, index=None, problem="the description of the log's contents is damaged")
    _, base_index, base_crc, write_failures, _ = rows[0]
    return Meta(Position(base_index, base_crc), write_failures)


def read_head(connection: sqlite3.Connection, base: Position) -> Position:
    """Return the position of the newest entry, or `base` if there is none."""
    row = connection.execute(
        "SELECT entry_index, crc FROM entries ORDER BY entry_index DESC LIMIT 1"
    ).fetchone()
    return base if row is None else Position(*row)


def crc_at(connection: sqlite3.Connection, path: Path, index: int, base: Position) -> int:
    """Return the stored checksum of the entries up to `index`, or raise LogCorrupt."""
    if index == base.index:
        return base.crc
    row = connection.execute("SELECT crc FROM entries WHERE entry_index = ?", (index,)).fetchone()
    if row is None or not isinstance(row[0], int):
        raise LogCorrupt(path, index=index, problem="the entry is missing")
    return row[0]


def read_rows(
    connection: sqlite3.Connection, path: Path, *, first: int, last: int, limit_bytes: int
) -> list[tuple[int, bytes]]:
    """Return the entries `first` to `last`, fewer if `limit_bytes` is reached, each one verified.

    Needs an open transaction. Raises EntriesCompacted, LogCorrupt or sqlite3.Error.
    """
    base = read_meta(connection, path).base
    if first <= base.index:
        raise EntriesCompacted(first, first_index=base.index + 1)
    found: list[tuple[int, bytes]] = []
    if first > last:
        return found
    expected_index, crc, size = first, crc_at(connection, path, first - 1, base), 0
    cursor = connection.execute(
        "SELECT entry_index, crc, payload FROM entries WHERE entry_index BETWEEN ? AND ? "
        "ORDER BY entry_index",
        (first, last),
    )
    for index, stored_crc, payload in cursor:
        if index != expected_index:
            raise LogCorrupt(path, index=expected_index, problem="the entry is missing")
        if not isinstance(payload, bytes):
            raise LogCorrupt(path, index=index, problem="the entry has no content")
        crc = chained_crc(crc, index, payload)
        if crc != stored_crc:
            raise LogCorrupt(path, index=index, problem="its checksum does not match its content")
        size += len(payload)
        if found and size > limit_bytes:
            cursor.close()
            return found
        found.append((index, payload))
        expected_index += 1
    if expected_index <= last:
        raise LogCorrupt(path, index=expected_index, problem="the entry is missing")
    return found


def _row_crc(row: Sequence[int]) -> int:
    return zlib.crc32(repr(tuple(row)).encode())
