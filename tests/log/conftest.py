"""Logs and disks for the tests of the log."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from yurt.log import Log, MemoryLog, SqliteLog

SMALL_DISK_BYTES = 2 * 1024 * 1024


@pytest.fixture(params=["memory", "sqlite"])
async def any_log(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Log]:
    """Each kind of log, new and empty."""
    log: Log = MemoryLog() if request.param == "memory" else await SqliteLog.open(tmp_path / "log")
    yield log
    await log.close()


@pytest.fixture
async def sqlite_log(tmp_path: Path) -> AsyncIterator[SqliteLog]:
    """A new, empty SqliteLog in tmp_path / "log"."""
    log = await SqliteLog.open(tmp_path / "log")
    yield log
    await log.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of SMALL_DISK_BYTES."""
    directory = tmp_path / "disk"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_BYTES}", "tmpfs", str(directory)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no right to mount a small disk: {mounted.stderr.strip()}")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)
