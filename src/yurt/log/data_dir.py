"""Exclusive ownership of a directory, so that two agents never write the same files."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from yurt.log.errors import DataDirLocked, DataDirNotWritable

LOCK_FILE = "lock"
PID_DIGITS_MAX = 20


class DataDirLock:
    """Ownership of `directory` until `release()` or the end of the process, however that comes."""

    def __init__(self, directory: Path, lock_fd: int) -> None:
        self.directory = directory
        self._fd: int | None = lock_fd

    @classmethod
    def acquire(cls, directory: Path) -> DataDirLock:
        """Make `directory` if need be and own it, or raise DataDirLocked or DataDirNotWritable."""
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise DataDirNotWritable(directory, reason=error.strerror or str(error)) from error
        try:
            _lock(fd, directory)
            _write_pid(fd, directory)
        except BaseException:
            os.close(fd)
            raise
        return cls(directory, fd)

    def release(self) -> None:
        """Give the directory up. The lock file stays: removing it would let two owners lock two files."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _lock(fd: int, directory: Path) -> None:
    try:
        # flock, not lockf: a POSIX lock is lost when any other descriptor of the file is closed.
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.pread(fd, PID_DIGITS_MAX, 0).strip()
        raise DataDirLocked(directory, pid=int(owner) if owner.isdigit() else None) from error
    except OSError as error:
        raise DataDirNotWritable(directory, reason=f"it cannot be locked: {error.strerror}") from error


def _write_pid(fd: int, directory: Path) -> None:
    # Fixed width: a full disk then fails only the very first start in a directory.
    text = f"{os.getpid():<{PID_DIGITS_MAX}}".encode()
    try:
        os.pwrite(fd, text, 0)
    except OSError as error:
        raise DataDirNotWritable(directory, reason=error.strerror or str(error)) from error
