"""The mark: an independent witness of the newest entry that was acknowledged.

SQLite drops a damaged end of its write-ahead file without a word, as it must after a power cut. The mark
tells that case from the loss of entries somebody relies on. It is written after the entries are durable
and is not synced itself, so it may lag behind them but never runs ahead.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

MARK_FILE = "acknowledged"
_LAYOUT = struct.Struct(">8sQI")  # magic, index, checksum of the entries up to it; then a CRC-32 of these
_MAGIC = b"YURTMARK"
_SIZE_BYTES = _LAYOUT.size + 4


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the log: the index of an entry, and the checksum of all entries up to it."""

    index: int
    crc: int


class Mark:
    """The mark file of one log, open for writing."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def open(cls, directory: Path, position: Position) -> Mark:
        """Write the mark at `position`, durably; raises OSError."""
        fd = os.open(directory / MARK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(fd, _encoded(position), 0)
            os.fsync(fd)
            sync_directory(directory)
        except BaseException:
            os.close(fd)
            raise
        return cls(fd)

    def move(self, position: Position) -> None:
        """Write the mark at `position`."""
        # A mark that lags is allowed, and the entries are safe without it: no reason to fail an append.
        with contextlib.suppress(OSError):
            os.pwrite(self._fd, _encoded(position), 0)

    def close(self) -> None:
        os.close(self._fd)


def read_mark(directory: Path) -> Position | None:
    """Return the mark, or None if there is none or it is damaged; raises OSError if it cannot be read."""
    try:
        data = (directory / MARK_FILE).read_bytes()
    except FileNotFoundError:
        return None
    if len(data) != _SIZE_BYTES or zlib.crc32(data[: _LAYOUT.size]) != int.from_bytes(data[_LAYOUT.size :]):
        return None
    magic, index, crc = _LAYOUT.unpack_from(data)
    return Position(index, crc) if magic == _MAGIC else None


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` durable."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _encoded(position: Position) -> bytes:
    data = _LAYOUT.pack(_MAGIC, position.index, position.crc)
    return data + zlib.crc32(data).to_bytes(4)
