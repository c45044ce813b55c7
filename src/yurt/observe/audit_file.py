"""A file of lines that grows in a thread of its own, and is put aside when it is old or large."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from yurt.observe.logger import get_logger

# Lines that wait to be written. More means that the disk is stuck.
WAITING_LINES_MAX = 10_000
DIRECTORY_MODE = 0o700
# How often a failing file is spoken of.
COMPLAINT_INTERVAL_S = 60.0

logger = get_logger("audit")


class AuditFile(msgspec.Struct, frozen=True, kw_only=True):
    """Where lines go, and when a file is put aside; 0 is never, and keeps all that were."""

    path: Path
    mode: int = 0o600
    rotate_bytes: int = 0
    rotate_after_s: float = 0.0
    kept_files_max: int = 0


class AuditWriter:
    """Appends lines to a file, in order, without making its callers wait."""

    def __init__(self, file: AuditFile, *, now: Callable[[], float] = time.time) -> None:
        """Open the file, and begin. Raises OSError if it cannot be opened."""
        self._file = file
        self._now = now
        self._condition = threading.Condition()
        self._waiting: list[tuple[bytes, asyncio.Future[bool] | None]] = []
        self._is_closed = False
        self._is_to_reopen = False
        self._lost = 0
        self._complained_at = 0.0
        self._descriptor = -1
        self._size = 0
        self._opened_at = 0.0
        self._open()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def offer(self, line: bytes, written: asyncio.Future[bool] | None = None) -> bool:
        """Take a line, and say in `written` whether it was written; False if too many wait already."""
        with self._condition:
            if self._is_closed or len(self._waiting) >= WAITING_LINES_MAX:
                self._lost += 1
                return False
            self._waiting.append((line, written))
            self._condition.notify()
        return True

    def reopen(self) -> None:
        """Open the file anew before the next line."""
        with self._condition:
            self._is_to_reopen = True

    def close(self) -> None:
        """Write what waits, and end."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()
        self._thread.join()
        self._close_file()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiting or self._is_closed)
                batch, self._waiting = self._waiting, []
                if self._is_to_reopen:
                    self._is_to_reopen = False
                    self._close_file()
            if not batch:
                return
            is_written = self._append([line for line, _ in batch])
            for _, written in batch:
                if written is not None:
                    written.get_loop().call_soon_threadsafe(_tell, written, is_written)

    def _append(self, lines: list[bytes]) -> bool:
        data = b"".join(lines)
        try:
            if self._descriptor < 0:
                self._open()
            elif self._is_due(len(data)):
                self._put_aside()
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
            self._size += len(data)
        except OSError as error:
            self._close_file()
            self._complain(len(lines), error)
            return False
        return True

    def _is_due(self, more_bytes: int) -> bool:
        file = self._file
        is_full = bool(file.rotate_bytes) and self._size + more_bytes > file.rotate_bytes
        is_old = bool(file.rotate_after_s) and self._now() - self._opened_at >= file.rotate_after_s
        return self._size > 0 and (is_full or is_old)

    def _open(self) -> None:
        path = self._file.path
        path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(path, flags, self._file.mode)
        self._size = os.fstat(self._descriptor).st_size
        self._opened_at = self._now()

    def _put_aside(self) -> None:
        path = self._file.path
        self._close_file()
        path.rename(path.with_name(f"{path.stem}-{time.time_ns()}{path.suffix}"))
        if self._file.kept_files_max:
            old = sorted(path.parent.glob(f"{path.stem}-*{path.suffix}"))
            for surplus in old[: -self._file.kept_files_max]:
                surplus.unlink(missing_ok=True)
        self._open()

    def _close_file(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _complain(self, lines: int, error: OSError) -> None:
        with self._condition:
            self._lost += lines
            lost = self._lost
        if self._now() - self._complained_at >= COMPLAINT_INTERVAL_S:
            self._complained_at = self._now()
            logger.error(
                "audit.not_written", path=str(self._file.path), error=error.strerror, lines_lost=lost
            )


def _tell(written: asyncio.Future[bool], is_written: bool) -> None:
    if not written.done():
        written.set_result(is_written)
