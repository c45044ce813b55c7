"""Damage to the files of a log is found, or does no harm; it never changes what is read."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path
from random import Random

import pytest

from tests.log.logs import ignore, read_all
from yurt.errors import YurtError
from yurt.log import LogCorrupt, SqliteLog
from yurt.log.entry_file import ENTRIES_FILE, TAIL_CHECK_ENTRIES
from yurt.log.mark import MARK_FILE, Position, read_mark

WAL_FILE = ENTRIES_FILE + "-wal"
FLIPS = 150
Entries = list[tuple[int, bytes]]


async def make_images(directory: Path) -> Entries:
    """Leave in `directory` the files of a log that was closed, and of one whose agent was killed."""
    rng = Random(1)
    log = await SqliteLog.open(directory / "log")
    await log.append([rng.randbytes(rng.choice([0, 10, 300, 5_000, 40_000])) for _ in range(60)], ignore)
    await log.compact(20)
    await log.close()
    log = await SqliteLog.open(directory / "log")
    for _ in range(10):
        await log.append([rng.randbytes(rng.choice([10, 300, 5_000])) for _ in range(3)], ignore)
    entries = read_all(log)
    shutil.copytree(directory / "log", directory / "killed")
    await log.close()
    shutil.copytree(directory / "log", directory / "closed")
    return entries


async def opened_entries(directory: Path) -> Entries:
    """Open the log in `directory` and read all of it, or raise what is wrong with it."""
    log = await SqliteLog.open(directory)
    try:
        return read_all(log)
    finally:
        await log.close()


@pytest.mark.parametrize(
    ("image", "name"),
    [("closed", ENTRIES_FILE), ("closed", MARK_FILE), ("killed", ENTRIES_FILE), ("killed", WAL_FILE)],
)
async def test_flipped_bit_is_found_or_harmless(tmp_path: Path, image: str, name: str) -> None:
    entries = await make_images(tmp_path)
    whole = (tmp_path / image / name).read_bytes()
    rng = Random(f"{image} {name}")
    # The first bytes hold the structure: try them more often than their share.
    places = [rng.randrange(min(len(whole), 200)) for _ in range(FLIPS // 3)]
    places += [rng.randrange(len(whole)) for _ in range(FLIPS - len(places))]
    found = 0
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        shutil.rmtree(tmp_path / "log")
        shutil.copytree(tmp_path / image, tmp_path / "log")
        (tmp_path / "log" / name).write_bytes(damaged)
        try:
            assert await opened_entries(tmp_path / "log") == entries, f"byte {place}"
        except YurtError:
            found += 1
    assert found > 0 or name == MARK_FILE


@pytest.mark.parametrize("name", [ENTRIES_FILE, WAL_FILE])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
async def test_file_cut_short_is_found(tmp_path: Path, name: str, kept: float) -> None:
    await make_images(tmp_path)
    whole = (tmp_path / "killed" / name).read_bytes()
    (tmp_path / "killed" / name).write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(LogCorrupt):
        await opened_entries(tmp_path / "killed")


@pytest.mark.parametrize("name", [ENTRIES_FILE, WAL_FILE])
async def test_missing_file_is_found(tmp_path: Path, name: str) -> None:
    await make_images(tmp_path)
    (tmp_path / "killed" / name).unlink()
    with pytest.raises(LogCorrupt):
        await opened_entries(tmp_path / "killed")


async def test_lost_end_names_the_first_entry_that_is_gone(tmp_path: Path) -> None:
    await make_images(tmp_path)
    (tmp_path / "killed" / WAL_FILE).unlink()
    with pytest.raises(
        LogCorrupt, match="entries up to 90 were acknowledged, but the file ends at 60"
    ) as raised:
        await SqliteLog.open(tmp_path / "killed")
    assert raised.value.index == 61
    assert f"the log {tmp_path}/killed/entries.db is corrupt at entry 61" in str(raised.value)
    assert "yurt operator snapshot restore" in str(raised.value)
    assert "\n" not in str(raised.value)


async def long_log(directory: Path) -> None:
    log = await SqliteLog.open(directory)
    await log.append([b"%d" % number for number in range(1, 2 * TAIL_CHECK_ENTRIES + 1)], ignore)
    await log.close()


def execute(directory: Path, sql: str) -> None:
    with contextlib.closing(sqlite3.connect(directory / ENTRIES_FILE, isolation_level=None)) as connection:
        connection.execute(sql)


LAST = 2 * TAIL_CHECK_ENTRIES


@pytest.mark.parametrize(
    ("sql", "index", "problem"),
    [
        (
            f"UPDATE entries SET payload = x'00' WHERE entry_index = {LAST - 5}",
            LAST - 5,
            "checksum does not match",
        ),
        (f"UPDATE entries SET payload = 7 WHERE entry_index = {LAST - 5}", LAST - 5, "has no content"),
        (f"DELETE FROM entries WHERE entry_index = {LAST - 5}", LAST - 5, "missing"),
        (f"DELETE FROM entries WHERE entry_index = {LAST}", LAST, "acknowledged"),
        (
            f"UPDATE entries SET crc = 1 WHERE entry_index = {LAST}",
            LAST,
            "not the entry that was acknowledged",
        ),
        ("DELETE FROM entries WHERE entry_index = 1", 1, "missing"),
        ("DELETE FROM entries", 1, "acknowledged"),
        ("UPDATE meta SET base_index = 5", None, "description"),
        ("DELETE FROM meta", None, "description"),
        ("DROP TABLE meta", None, "no such table"),
        ("PRAGMA user_version = 0", None, "not a log of Yurt"),
        ("PRAGMA application_id = 0", None, "not a log of Yurt"),
    ],
)
async def test_damage_stops_the_start(tmp_path: Path, sql: str, index: int | None, problem: str) -> None:
    await long_log(tmp_path)
    execute(tmp_path, sql)
    with pytest.raises(LogCorrupt, match=problem) as raised:
        await SqliteLog.open(tmp_path)
    assert raised.value.index == index


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("UPDATE entries SET payload = x'00' WHERE entry_index = 7", "checksum does not match"),
        ("DELETE FROM entries WHERE entry_index = 7", "missing"),
    ],
)
async def test_damage_before_the_newest_entries_is_found_when_they_are_read(
    tmp_path: Path, sql: str, problem: str
) -> None:
    await long_log(tmp_path)
    execute(tmp_path, sql)
    log = await SqliteLog.open(tmp_path)
    assert log.read(1, limit_bytes=5)[-1][0] == 5
    with pytest.raises(LogCorrupt, match=problem) as raised:
        log.read(1)
    assert raised.value.index == 7
    await log.close()


async def test_damaged_mark_is_renewed(tmp_path: Path) -> None:
    await long_log(tmp_path)
    mark = read_mark(tmp_path)
    assert mark is not None
    assert mark.index == LAST
    (tmp_path / MARK_FILE).write_bytes(b"?")
    assert read_mark(tmp_path) is None
    await (await SqliteLog.open(tmp_path)).close()
    assert read_mark(tmp_path) == mark


async def test_mark_follows_every_acknowledged_append(sqlite_log: SqliteLog, tmp_path: Path) -> None:
    marks: list[Position | None] = []
    for _ in range(3):
        await sqlite_log.append([b"a"], lambda _: marks.append(read_mark(tmp_path / "log")))
    assert [mark.index for mark in marks if mark] == [1, 2, 3]
