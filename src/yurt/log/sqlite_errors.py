"""What SQLite and the system report, in the words of the log."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from yurt.log.errors import DataDirNotWritable, LogCorrupt, LogWriteFailed

_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_NOT_WRITTEN = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY)
_FREE_SPACE = "free space on that disk: the log then works again by itself"
_CHECK_DISK = "check the disk and its messages in the system's log; the log works again when the disk does"


@contextlib.contextmanager
def open_errors(path: Path) -> Iterator[None]:
    """Turn what fails while the log at `path` is opened into the errors of the log."""
    try:
        yield
    except sqlite3.Error as error:
        code = _primary_code(error)
        if code in _NOT_WRITABLE:
            raise DataDirNotWritable(path.parent, reason=str(error)) from error
        if code in _NOT_WRITTEN:
            raise _write_failed(path, error) from error
        raise LogCorrupt(path, index=None, problem=f"it cannot be opened: {error}") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise LogWriteFailed(path, reason=str(error.strerror), advice=_FREE_SPACE) from error
        raise DataDirNotWritable(path.parent, reason=error.strerror or str(error)) from error


@contextlib.contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn what fails while the log at `path` is written into LogWriteFailed."""
    try:
        yield
    except (sqlite3.Error, MemoryError) as error:
        raise _write_failed(path, error) from error
    except LogCorrupt as error:
        advice = "restart the agent: it checks the log as it starts and says how to repair it"
        raise LogWriteFailed(path, reason=error.problem, advice=advice) from error


def _write_failed(path: Path, error: sqlite3.Error | MemoryError) -> LogWriteFailed:
    if isinstance(error, MemoryError):
        return LogWriteFailed(path, reason="out of memory", advice="free memory on this machine")
    if _primary_code(error) == sqlite3.SQLITE_FULL:
        return LogWriteFailed(path, reason="the disk is full", advice=_FREE_SPACE)
    return LogWriteFailed(path, reason=str(error), advice=_CHECK_DISK)


def _primary_code(error: sqlite3.Error) -> int | None:
    # Errors of the module itself, not of the library below it, have no code.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
