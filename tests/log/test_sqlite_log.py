"""The log in a SQLite file: what is its own beside the contract of all logs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.log.logs import ignore, read_all
from yurt.log import (
    DataDirLock,
    DataDirLocked,
    DataDirNotWritable,
    LogBusy,
    LogClosed,
    LogFormatTooNew,
    SqliteLog,
    entry_file,
    group_commit,
    sqlite,
)
from yurt.log.data_dir import LOCK_FILE
from yurt.log.entry_file import ENTRIES_FILE
from yurt.log.entry_rows import FORMAT_VERSION, Statement


class Gate:
    """Holds the writing thread up at its next transaction until `open()`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._event = threading.Event()
        real = entry_file.run_transaction

        def gated(connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
            self._event.wait()
            real(connection, statements)

        monkeypatch.setattr(entry_file, "run_transaction", gated)

    def open(self) -> None:
        self._event.set()


async def test_entries_are_there_after_a_restart(tmp_path: Path) -> None:
    log = await SqliteLog.open(tmp_path)
    await log.append([b"%d" % number for number in range(1, 301)], ignore)
    await log.compact(10)
    await log.close()

    log = await SqliteLog.open(tmp_path)
    assert (log.first_index, log.last_index) == (11, 300)
    assert read_all(log) == [(number, b"%d" % number) for number in range(11, 301)]
    assert await log.append([b"next"], ignore) == 301
    await log.close()


async def test_reset_is_there_after_a_restart(tmp_path: Path) -> None:
    log = await SqliteLog.open(tmp_path)
    await log.append([b"a"], ignore)
    await log.reset(50)
    await log.close()

    log = await SqliteLog.open(tmp_path)
    assert (log.first_index, log.last_index) == (50, 49)
    assert await log.append([b"b"], ignore) == 50
    await log.close()


async def test_appends_that_wait_together_share_one_commit(
    sqlite_log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    first = sqlite_log.append([b"first"], ignore)
    await asyncio.sleep(0)
    others = [sqlite_log.append([b"x" * 1024], ignore) for _ in range(1000)]
    gate.open()
    assert await first == 1
    assert await asyncio.gather(*others) == list(range(2, 1002))
    # The first may have gone with the others, or alone while they were still coming.
    assert sqlite_log.commits in (1, 2)


async def test_batches_have_a_limit(sqlite_log: SqliteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "BATCH_ENTRIES_MAX", 10)
    await asyncio.gather(*(sqlite_log.append([b"x"], ignore) for _ in range(100)))
    assert sqlite_log.commits >= 10
    before = sqlite_log.commits
    monkeypatch.setattr(group_commit, "BATCH_BYTES_MAX", 100)
    await asyncio.gather(*(sqlite_log.append([b"x" * 50], ignore) for _ in range(10)))
    assert sqlite_log.commits - before >= 5


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 127, 128, 129, 256, 257, 1000])
async def test_append_of_any_number_of_entries(sqlite_log: SqliteLog, count: int) -> None:
    entries = [b"%d" % number for number in range(1, count + 1)]
    await sqlite_log.append(entries, ignore)
    assert [entry for _, entry in read_all(sqlite_log)] == entries


@pytest.mark.parametrize("limit", ["WAITING_ENTRIES_MAX", "WAITING_BYTES_MAX"])
async def test_append_is_refused_while_too_much_waits(
    sqlite_log: SqliteLog, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(sqlite, limit, 5)
    waiting = [sqlite_log.append([b"x"], ignore) for _ in range(5)]
    with pytest.raises(LogBusy, match="5 entries \\(5 bytes\\) wait for the disk; retry"):
        sqlite_log.append([b"y"], ignore)
    await asyncio.gather(*waiting)
    assert await sqlite_log.append([b"z"], ignore) == 6


async def test_appends_go_on_between_the_steps_of_a_compaction(
    sqlite_log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_file, "DROP_ENTRIES_MAX", 10)
    await sqlite_log.append([b"x"] * 1000, ignore)
    gate = Gate(monkeypatch)
    compaction = asyncio.create_task(sqlite_log.compact(990))
    await asyncio.sleep(0)
    bounds: list[int] = []
    append = sqlite_log.append([b"y"], lambda _: bounds.append(sqlite_log.first_index))
    gate.open()
    await append
    assert bounds == [1]  # the compaction's end had not been announced yet
    await compaction
    assert (sqlite_log.first_index, sqlite_log.last_index) == (991, 1001)
    assert len(read_all(sqlite_log)) == 11


async def test_close_ends_a_compaction_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_file, "DROP_ENTRIES_MAX", 1)
    log = await SqliteLog.open(tmp_path)
    await log.append([b"x"] * 1000, ignore)
    gate = Gate(monkeypatch)
    compaction = asyncio.create_task(log.compact(1000))
    await asyncio.sleep(0)
    closing = asyncio.create_task(log.close())
    await asyncio.sleep(0)
    gate.open()
    await closing
    with pytest.raises(LogClosed):
        await compaction

    log = await SqliteLog.open(tmp_path)
    assert [index for index, _ in read_all(log)] == list(range(log.first_index, 1001))
    await log.close()


async def test_cancelled_compaction_is_still_done(sqlite_log: SqliteLog) -> None:
    await sqlite_log.append([b"x"] * 10, ignore)
    compaction = asyncio.create_task(sqlite_log.compact(5))
    await asyncio.sleep(0)
    compaction.cancel()
    await sqlite_log.append([b"y"], ignore)
    assert sqlite_log.first_index == 6


async def test_newer_format_is_refused(tmp_path: Path) -> None:
    await (await SqliteLog.open(tmp_path)).close()
    with contextlib.closing(sqlite3.connect(tmp_path / ENTRIES_FILE)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT_VERSION + 1}")
    with pytest.raises(
        LogFormatTooNew, match="has format 2, this Yurt reads up to 1; run the version"
    ) as raised:
        await SqliteLog.open(tmp_path)
    assert "\n" not in str(raised.value)
    assert (raised.value.found, raised.value.supported) == (2, 1)


async def test_second_log_in_the_same_directory_is_refused(tmp_path: Path) -> None:
    log = await SqliteLog.open(tmp_path)
    with pytest.raises(
        DataDirLocked, match=f"another agent \\(pid {os.getpid()}\\) is using {tmp_path}"
    ) as raised:
        await SqliteLog.open(tmp_path)
    assert raised.value.pid == os.getpid()
    await log.close()
    await (await SqliteLog.open(tmp_path)).close()


def test_lock_of_another_process_holds_until_that_ends(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from yurt.log import DataDirLock\n"
        "lock = DataDirLock.acquire(Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "locked\n"
        with pytest.raises(DataDirLocked) as raised:
            DataDirLock.acquire(tmp_path)
        assert raised.value.pid == owner.pid
        owner.kill()
    DataDirLock.acquire(tmp_path).release()


def test_lock_whose_owner_has_not_said_who_it_is(tmp_path: Path) -> None:
    lock = DataDirLock.acquire(tmp_path)
    (tmp_path / LOCK_FILE).write_text("")
    with pytest.raises(DataDirLocked, match=f"^another agent is using {tmp_path}"):
        DataDirLock.acquire(tmp_path)
    lock.release()


async def test_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataDirNotWritable, match=r"is not writable: Not a directory; give the agent's user"):
        await SqliteLog.open(tmp_path / "file" / "log")


async def test_read_only_disk(small_disk: Path) -> None:
    await (await SqliteLog.open(small_disk)).close()
    remount = ["mount", "-o", "remount,ro", str(small_disk)]
    await asyncio.to_thread(subprocess.run, remount, check=True)
    with pytest.raises(DataDirNotWritable, match="Read-only file system"):
        await SqliteLog.open(small_disk)


async def test_failed_open_leaves_the_directory_free(tmp_path: Path) -> None:
    (tmp_path / ENTRIES_FILE).write_bytes(b"not a database" * 100)
    for _ in range(2):
        with pytest.raises(Exception, match="is corrupt: it cannot be opened: file is not a database"):
            await SqliteLog.open(tmp_path)
    (tmp_path / ENTRIES_FILE).unlink()
    await (await SqliteLog.open(tmp_path)).close()


async def test_writing_thread_need_not_wait_long_for_the_interpreter(tmp_path: Path) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    try:
        await (await SqliteLog.open(tmp_path)).close()
        assert sys.getswitchinterval() == pytest.approx(sqlite.SWITCH_INTERVAL_S_MAX)
    finally:
        sys.setswitchinterval(before)
