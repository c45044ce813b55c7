"""Snapshot files: a directory keeps the newest ones. All functions block; run them in a thread."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from yurt.log.errors import SnapshotCorrupt, SnapshotWriteFailed
from yurt.log.mark import sync_directory
from yurt.log.snapshot_format import SnapshotDecoder, SnapshotEnd, SnapshotHeader, encode_snapshot

# Two, so that the one before is there if the newest turns out to be unreadable.
SNAPSHOTS_KEPT = 2
READ_BYTES = 1024 * 1024
# The pause after each chunk. Just giving up the interpreter is not enough: this thread would have it back
# before the event loop's thread has woken up.
PAUSE_S = 0.0002

_SUFFIX = ".snapshot"
_PARTIAL_SUFFIX = ".partial"


class SnapshotInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot file that was read to its end and is whole."""

    path: Path
    header: SnapshotHeader
    end: SnapshotEnd


class FoundSnapshots(msgspec.Struct, frozen=True, kw_only=True):
    """What a directory holds: the newest whole snapshot, if any, and the newer ones that are broken."""

    newest: SnapshotInfo | None
    broken: tuple[SnapshotCorrupt, ...]


def write_snapshot(directory: Path, header: SnapshotHeader, chunks: Iterable[bytes]) -> Path:
    """Write a snapshot to `directory`, durably, and remove the oldest beyond SNAPSHOTS_KEPT.

    `chunks` is iterated in the calling thread, with a pause after each chunk in which the event loop can
    run: making a chunk should take no more than a few milliseconds. The file appears under its name only
    when it is whole. Raises SnapshotWriteFailed, and whatever `chunks` raises; both leave no file behind.
    """
    path = directory / f"{header.index:020d}{_SUFFIX}"
    with _write_errors(directory):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        for stale in directory.glob(f"*{_PARTIAL_SUFFIX}"):  # of a process that died while writing
            stale.unlink()
        fd, name = tempfile.mkstemp(dir=directory, suffix=_PARTIAL_SUFFIX)
    partial = Path(name)
    try:
        try:
            for piece in encode_snapshot(header, chunks):
                with _write_errors(directory):
                    _write_all(fd, piece)
                time.sleep(PAUSE_S)
            with _write_errors(directory):
                os.fsync(fd)
        finally:
            os.close(fd)
        with _write_errors(directory):
            partial.rename(path)
            sync_directory(directory)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    for old in _paths_newest_first(directory)[SNAPSHOTS_KEPT:]:
        with contextlib.suppress(OSError):  # the next snapshot tries again
            old.unlink()
    return path


def read_snapshot(path: Path) -> tuple[SnapshotHeader, Iterator[bytes]]:
    """Return the header of the snapshot at `path`, and its chunks as they are read.

    Each chunk has been checked when it comes; but only when the iterator ends, the snapshot was whole.
    Both raise SnapshotCorrupt and SnapshotFormatTooNew.
    """
    decoder = SnapshotDecoder(str(path))
    for _ in _decoded(path, decoder):
        break
    if decoder.header is None:
        decoder.finish()
    assert decoder.header is not None
    return decoder.header, _decoded(path, SnapshotDecoder(str(path)))


def inspect_snapshot(path: Path) -> SnapshotInfo:
    """Read all of the snapshot at `path` and describe it.

    Raises SnapshotCorrupt and SnapshotFormatTooNew.
    """
    decoder = SnapshotDecoder(str(path))
    for _ in _decoded(path, decoder):
        pass
    assert decoder.header is not None, "a snapshot with an end has a header"
    return SnapshotInfo(path=path, header=decoder.header, end=decoder.finish())


def newest_snapshot(directory: Path) -> FoundSnapshots:
    """Find the newest whole snapshot in `directory`, by reading from the newest on.

    Raises SnapshotFormatTooNew rather than go back to an older one, which would undo what was done since.
    """
    broken: list[SnapshotCorrupt] = []
    for path in _paths_newest_first(directory):
        try:
            return FoundSnapshots(newest=inspect_snapshot(path), broken=tuple(broken))
        except SnapshotCorrupt as error:
            broken.append(error)
    return FoundSnapshots(newest=None, broken=tuple(broken))


def snapshot_indexes(directory: Path) -> tuple[int, ...]:
    """The indexes of the snapshots in `directory`, newest first, whether they are whole or not."""
    return tuple(int(path.stem) for path in _paths_newest_first(directory))


def _decoded(path: Path, decoder: SnapshotDecoder) -> Iterator[bytes]:
    """Feed the file at `path` to `decoder` and yield its chunks; ends only if the snapshot is whole."""
    try:
        with path.open("rb", buffering=0) as file:
            while data := file.read(READ_BYTES):
                yield from decoder.feed(data)
    except OSError as error:
        raise SnapshotCorrupt(str(path), problem=f"it cannot be read: {error.strerror}") from error
    decoder.finish()


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _paths_newest_first(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"*{_SUFFIX}"), reverse=True)


@contextlib.contextmanager
def _write_errors(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SnapshotWriteFailed(directory, reason=error.strerror or str(error)) from error
