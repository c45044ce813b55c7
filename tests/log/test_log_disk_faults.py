"""The log on a disk that fills up or fails."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.log.logs import ignore, read_all
from yurt.log import DataDirNotWritable, LogCorrupt, LogWriteFailed, SqliteLog, entry_file
from yurt.log.entry_rows import Statement, read_meta


async def fill(log: SqliteLog) -> LogWriteFailed:
    """Append until the disk refuses, and return how it said so."""
    while True:
        try:
            await log.append([b"x" * 50_000], ignore)
        except LogWriteFailed as error:
            return error


async def test_full_disk_fails_appends_and_the_log_works_again_when_there_is_space(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(500_000))
    log = await SqliteLog.open(small_disk / "log")
    error = await fill(log)
    assert error.reason == "the disk is full"
    assert "nothing was changed; free space on that disk" in str(error)
    kept = read_all(log)
    assert len(kept) == log.last_index > 0

    seen: list[int] = []
    together = [log.append([b"y" * 50_000], seen.append) for _ in range(5)]
    outcomes = await asyncio.gather(*together, return_exceptions=True)
    assert all(isinstance(outcome, LogWriteFailed) for outcome in outcomes)
    assert len({id(outcome) for outcome in outcomes}) == 5
    assert seen == []
    assert read_all(log) == kept

    ballast.unlink()
    assert await log.append([b"after"], seen.append) == kept[-1][0] + 1
    assert seen == [log.last_index]
    await log.close()

    log = await SqliteLog.open(small_disk / "log")
    assert read_all(log) == [*kept, (kept[-1][0] + 1, b"after")]
    await log.close()


async def test_log_on_a_full_disk_is_whole_after_a_restart(small_disk: Path) -> None:
    log = await SqliteLog.open(small_disk / "log")
    await fill(log)
    kept = read_all(log)
    await log.close()

    log = await SqliteLog.open(small_disk / "log")
    assert read_all(log) == kept
    await log.close()


async def test_log_cannot_be_made_on_a_full_disk(small_disk: Path) -> None:
    (small_disk / "log").mkdir()
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "ballast").write_bytes(bytes(10_000_000))
    with pytest.raises(DataDirNotWritable, match="is not writable: No space left on device"):
        await SqliteLog.open(small_disk / "log")

    (small_disk / "ballast").unlink()
    log = await SqliteLog.open(small_disk / "log")
    assert await log.append([b"a"], ignore) == 1
    await log.close()


# A file may not grow past a size here, which SQLite sees as a failing write of the disk.
LIMITED = """
import asyncio, json, resource, sys
from pathlib import Path
from yurt.log import LogWriteFailed, SqliteLog

async def main():
    log = await SqliteLog.open(Path(sys.argv[1]))
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    durable, reason = [], None
    while reason is None:
        try:
            await log.append([b"x" * 50_000], durable.append)
        except LogWriteFailed as error:
            reason = error.reason
    try:
        await log.compact(log.last_index)
        compacted = None
    except LogWriteFailed as error:
        compacted = error.reason
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    after = await log.append([b"after"], durable.append)
    print(json.dumps({"durable": durable, "reason": reason, "after": after, "compacted": compacted}))
    await log.close()

asyncio.run(main())
"""


async def test_failing_writes_fail_appends_and_the_log_works_again_when_the_disk_does(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    child = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    outcome = json.loads(child.stdout)
    assert outcome["reason"] == "disk I/O error"
    assert outcome["durable"] == list(range(1, outcome["after"] + 1))

    log = await SqliteLog.open(tmp_path)
    assert log.last_index == outcome["after"]
    assert read_all(log)[-1] == (outcome["after"], b"after")
    await log.close()


def fail_once(monkeypatch: pytest.MonkeyPatch, *, after_commit: bool) -> None:
    """Make the next transaction report a failure, before it is written or after."""
    real = entry_file.run_transaction

    def failing(connection: sqlite3.Connection, statements: Sequence[Statement]) -> None:
        monkeypatch.setattr(entry_file, "run_transaction", real)
        if after_commit:
            real(connection, statements)
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(entry_file, "run_transaction", failing)


async def test_failed_commit_that_was_written_counts_as_durable(
    sqlite_log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    fail_once(monkeypatch, after_commit=True)
    assert await sqlite_log.append([b"a"], seen.append) == 1
    assert await sqlite_log.append([b"b"], seen.append) == 2
    assert seen == [1, 2]
    fail_once(monkeypatch, after_commit=True)
    await sqlite_log.compact(1)
    assert sqlite_log.first_index == 2
    fail_once(monkeypatch, after_commit=True)
    await sqlite_log.reset(10)
    assert sqlite_log.first_index == 10


async def test_failed_commit_that_was_not_written_leaves_the_log_as_it_was(
    sqlite_log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sqlite_log.append([b"a", b"b"], ignore)
    fail_once(monkeypatch, after_commit=False)
    with pytest.raises(LogWriteFailed, match="could not be written: disk I/O error; nothing was changed"):
        await sqlite_log.append([b"c"], ignore)
    fail_once(monkeypatch, after_commit=False)
    with pytest.raises(LogWriteFailed):
        await sqlite_log.compact(1)
    fail_once(monkeypatch, after_commit=False)
    with pytest.raises(LogWriteFailed):
        await sqlite_log.reset(10)
    assert read_all(sqlite_log) == [(1, b"a"), (2, b"b")]
    assert await sqlite_log.append([b"d"], ignore) == 3


async def test_failed_write_is_written_over_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = await SqliteLog.open(tmp_path)
    fail_once(monkeypatch, after_commit=False)
    with pytest.raises(LogWriteFailed):
        await log.append([b"a"], ignore)
    await log.close()
    connection = entry_file.connect(tmp_path / entry_file.ENTRIES_FILE)
    assert read_meta(connection, tmp_path).write_failures == 1
    connection.close()


async def test_log_that_cannot_be_read_back_takes_no_more_writes_until_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = await SqliteLog.open(tmp_path)
    await log.append([b"a"], ignore)

    def unreadable(_connection: sqlite3.Connection, path: Path) -> None:
        raise LogCorrupt(path, index=None, problem="the description of the log's contents is damaged")

    fail_once(monkeypatch, after_commit=True)
    with monkeypatch.context() as patch:
        patch.setattr(entry_file, "read_meta", unreadable)
        with pytest.raises(LogWriteFailed, match="is damaged; nothing was changed; restart the agent"):
            await log.append([b"b"], ignore)
    with pytest.raises(LogWriteFailed, match=r"could not be read back; .* restart the agent"):
        await log.append([b"c"], ignore)
    await log.close()

    log = await SqliteLog.open(tmp_path)
    assert read_all(log) == [(1, b"a"), (2, b"b")]
    await log.close()
