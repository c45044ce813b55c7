"""Snapshot files: written whole or not at all, and never read wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.log import (
    SnapshotCorrupt,
    SnapshotDecoder,
    SnapshotFormatTooNew,
    SnapshotHeader,
    SnapshotWriteFailed,
    encode_snapshot,
    inspect_snapshot,
    newest_snapshot,
    read_snapshot,
    write_snapshot,
)
from yurt.log.snapshot import SNAPSHOTS_KEPT
from yurt.log.snapshot_format import CHUNK_BYTES_MAX, FORMAT_VERSION

CHUNKS = [b"nodes", b"x" * 5000, b"jobs" * 10]


def a_header(index: int = 7) -> SnapshotHeader:
    return SnapshotHeader(index=index, created_at_ns=1_700_000_000_000_000_000, kind="yurt.state")


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_snapshot_reads_as_it_was_written(tmp_path: Path) -> None:
    path = write_snapshot(tmp_path / "new" / "dir", a_header(), CHUNKS)
    header, chunks = read_snapshot(path)
    assert header == a_header()
    assert list(chunks) == CHUNKS
    info = inspect_snapshot(path)
    assert (info.path, info.header) == (path, a_header())
    assert (info.end.chunks, info.end.content_bytes) == (3, 5045)
    assert info.end.total_bytes == path.stat().st_size
    assert path.read_bytes().endswith(bytes.fromhex(info.end.sha256))
    assert names(path.parent) == ["00000000000000000007.snapshot"]


def test_snapshot_without_chunks(tmp_path: Path) -> None:
    path = write_snapshot(tmp_path, a_header(), [])
    header, chunks = read_snapshot(path)
    assert (header, list(chunks)) == (a_header(), [])


def test_chunks_are_made_only_as_they_are_written(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        for number in range(3):
            (partial,) = tmp_path.glob("*.partial")
            assert partial.stat().st_size > number * 1000
            yield b"x" * 1000

    write_snapshot(tmp_path, a_header(), chunks())
    assert names(tmp_path) == ["00000000000000000007.snapshot"]


def test_event_loop_gets_a_turn_after_every_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    monkeypatch.setattr(time, "sleep", lambda _: events.append("pause"))

    def chunks() -> Iterator[bytes]:
        for chunk in CHUNKS:
            events.append("chunk")
            yield chunk

    write_snapshot(tmp_path, a_header(), chunks())
    assert events == ["pause", *["chunk", "pause"] * 3, "pause"]


def test_failing_chunks_leave_nothing_behind(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"a"
        raise RuntimeError("encoding failed")

    with pytest.raises(RuntimeError, match="encoding failed"):
        write_snapshot(tmp_path, a_header(), chunks())
    assert names(tmp_path) == []


def test_full_disk_leaves_the_older_snapshots(small_disk: Path) -> None:
    old = write_snapshot(small_disk, a_header(1), CHUNKS)
    with pytest.raises(SnapshotWriteFailed, match="No space left on device; free space") as raised:
        write_snapshot(small_disk, a_header(2), (bytes(100_000) for _ in range(100)))
    assert raised.value.directory == small_disk
    assert names(small_disk) == [old.name]
    assert write_snapshot(small_disk, a_header(3), CHUNKS).exists()


def test_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SnapshotWriteFailed, match="Not a directory"):
        write_snapshot(tmp_path / "file" / "snapshots", a_header(), CHUNKS)


def test_only_the_newest_are_kept_and_remains_of_a_crash_go(tmp_path: Path) -> None:
    (tmp_path / "tmpabc.partial").write_bytes(b"cut")
    for index in (5, 90, 100, 1000):
        write_snapshot(tmp_path, a_header(index), CHUNKS)
    assert SNAPSHOTS_KEPT == 2
    assert names(tmp_path) == ["00000000000000000100.snapshot", "00000000000000001000.snapshot"]
    newest = newest_snapshot(tmp_path).newest
    assert newest is not None
    assert newest.header.index == 1000


def test_broken_newest_is_reported_and_the_one_before_is_used(tmp_path: Path) -> None:
    good = write_snapshot(tmp_path, a_header(1), CHUNKS)
    bad = write_snapshot(tmp_path, a_header(2), CHUNKS)
    bad.write_bytes(bad.read_bytes()[:-1])
    found = newest_snapshot(tmp_path)
    assert found.newest == inspect_snapshot(good)
    (broken,) = found.broken
    assert (broken.source, broken.problem) == (str(bad), "it is cut short")


def test_directory_without_snapshots(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "missing"):
        found = newest_snapshot(directory)
        assert (found.newest, found.broken) == (None, ())


def test_newer_format_is_refused_even_if_an_older_snapshot_is_there(tmp_path: Path) -> None:
    write_snapshot(tmp_path, a_header(1), CHUNKS)
    newer = write_snapshot(tmp_path, a_header(2), CHUNKS)
    data = newer.read_bytes()
    newer.write_bytes(data[:8] + (FORMAT_VERSION + 1).to_bytes(4) + data[12:])
    with pytest.raises(SnapshotFormatTooNew, match="has format 2, this Yurt reads up to 1") as raised:
        newest_snapshot(tmp_path)
    assert (raised.value.found, raised.value.supported) == (2, 1)
    with pytest.raises(SnapshotFormatTooNew):
        read_snapshot(newer)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "it is empty"),
        (b"YURT", "it is cut short"),
        (b"PK\x03\x04" * 20, "it is not a snapshot of Yurt"),
        (b"".join(encode_snapshot(a_header(), CHUNKS)) + b"x", "bytes follow its end"),
        (b"".join(encode_snapshot(a_header(), CHUNKS))[:-40], "it is cut short"),
    ],
)
def test_what_is_no_whole_snapshot_is_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    path = tmp_path / "archive"
    path.write_bytes(data)
    with pytest.raises(
        SnapshotCorrupt, match=f"the snapshot {path} is not usable: {problem}; use another"
    ) as raised:
        inspect_snapshot(path)
    assert raised.value.problem == problem


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotCorrupt, match="it cannot be read: No such file or directory"):
        read_snapshot(tmp_path / "none")


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    whole = b"".join(encode_snapshot(a_header(), [b"abc", b"x" * 100, b"z"]))
    rng = Random(1)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        decoder = SnapshotDecoder("archive")
        with pytest.raises((SnapshotCorrupt, SnapshotFormatTooNew)):
            decode(decoder, [bytes(damaged)])


def decode(decoder: SnapshotDecoder, pieces: list[bytes]) -> list[bytes]:
    chunks = [chunk for piece in pieces for chunk in decoder.feed(piece)]
    decoder.finish()
    return chunks


@given(chunks=st.lists(st.binary(min_size=1, max_size=200), max_size=10), piece_bytes=st.integers(1, 300))
def test_snapshot_may_come_in_pieces_of_any_size(chunks: list[bytes], piece_bytes: int) -> None:
    data = b"".join(encode_snapshot(a_header(), chunks))
    decoder = SnapshotDecoder("archive")
    pieces = [data[at : at + piece_bytes] for at in range(0, len(data), piece_bytes)]
    assert decode(decoder, pieces) == chunks
    assert decoder.header == a_header()


def test_bytes_after_the_end_are_refused_in_a_later_piece() -> None:
    decoder = SnapshotDecoder("archive")
    decode(decoder, [b"".join(encode_snapshot(a_header(), CHUNKS))])
    with pytest.raises(SnapshotCorrupt, match="bytes follow its end"):
        list(decoder.feed(b"x"))


@pytest.mark.parametrize("size", [0, CHUNK_BYTES_MAX + 1])
def test_chunk_sizes_have_limits(size: int) -> None:
    with pytest.raises(AssertionError):
        list(encode_snapshot(a_header(), [bytes(size)]))
