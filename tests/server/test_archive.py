"""Snapshot archives: written, read back, and refused when damaged."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from random import Random

import pytest

from tests.state.builders import Cluster
from tests.state.comparing import assert_same_state
from tests.state.entry_maker import EntryMaker, RandomChoices
from yurt.log.snapshot_format import SnapshotHeader
from yurt.server.archive import ArchiveMeta, ArchiveRefused, read_archive, write_archive
from yurt.state.snapshot import dump, row_counts
from yurt.state.state import State


def _some_state() -> State:
    cluster = Cluster()
    maker = EntryMaker(cluster, RandomChoices(3))
    for _ in range(80):
        cluster.apply(maker.entry())
    return cluster.state


@pytest.fixture(scope="module")
def state() -> State:
    return _some_state()


@pytest.fixture
def archive(tmp_path: Path, state: State) -> Path:
    path = tmp_path / "state.snap"
    header = SnapshotHeader(index=state.index, created_at_ns=1_700_000_000_123_000_000, kind="yurt-state")
    meta = ArchiveMeta(index=state.index, created_at_ns=header.created_at_ns, tables=row_counts(state))
    sha256 = write_archive(path, header, dump(state), meta)
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    return path


def test_what_was_saved_is_read_back(archive: Path, state: State) -> None:
    assert_same_state(read_archive(archive), state)
    assert list(archive.parent.iterdir()) == [archive], "nothing is left beside it"


def test_the_archive_describes_itself(archive: Path, state: State) -> None:
    with tarfile.open(archive, "r:gz") as opened:
        assert opened.getnames() == ["meta.json", "state.bin", "SHA256SUMS"]
        described = opened.extractfile("meta.json")
        assert described is not None
        meta = json.loads(described.read())
    assert meta["Index"] == state.index
    assert meta["ID"] == f"{state.index}-1700000000123"
    assert meta["Tables"]["nodes"] == len(state.nodes)
    assert set(meta["TableSizes"]) <= set(meta["Tables"])
    assert all(meta["TableSizes"][name] > 0 for name, count in meta["Tables"].items() if count)


def test_the_same_state_makes_the_same_archive(archive: Path, state: State, tmp_path: Path) -> None:
    header = SnapshotHeader(index=state.index, created_at_ns=1_700_000_000_123_000_000, kind="yurt-state")
    meta = ArchiveMeta(index=state.index, created_at_ns=header.created_at_ns, tables=row_counts(state))
    write_archive(tmp_path / "again.snap", header, dump(state), meta)
    assert (tmp_path / "again.snap").read_bytes() == archive.read_bytes()


@pytest.mark.parametrize("content", [b"", b"\x1f", b"PK\x03\x04", b"not an archive at all"])
def test_what_is_no_gzip_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ArchiveRefused, match="gzip: invalid header"):
        read_archive(path)


def _assert_refused_or_whole(archive: Path, state: State) -> bool:
    """Read an archive that was damaged, if only in its padding; says whether it was refused."""
    try:
        assert_same_state(read_archive(archive), state)
    except ArchiveRefused:
        return True
    return False


def test_a_cut_archive_is_refused(archive: Path, state: State) -> None:
    whole = archive.read_bytes()
    refused = 0
    for size in range(2, len(whole), max(1, len(whole) // 50)):
        archive.write_bytes(whole[:size])
        refused += _assert_refused_or_whole(archive, state)
    assert refused > 40


def test_a_flipped_bit_never_goes_unnoticed(archive: Path, state: State) -> None:
    whole = bytearray(archive.read_bytes())
    rng = Random(5)
    refused = 0
    for _ in range(60):
        position, bit = rng.randrange(len(whole)), 1 << rng.randrange(8)
        whole[position] ^= bit
        archive.write_bytes(whole)
        refused += _assert_refused_or_whole(archive, state)
        whole[position] ^= bit
    assert refused > 50


def _packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as opened:
        for info, content in members:
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue())


def _sums(content: bytes) -> bytes:
    return f"{hashlib.sha256(content).hexdigest()}  state.bin\n".encode()


def test_other_archives_are_refused(tmp_path: Path) -> None:
    link = tarfile.TarInfo("state.bin")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    content = b"no snapshot"
    path = tmp_path / "file"
    for packed in (
        _packed(),
        _packed((tarfile.TarInfo("state.bin"), content)),
        _packed((tarfile.TarInfo("state.bin"), content), (tarfile.TarInfo("SHA256SUMS"), b"0  state.bin\n")),
        _packed((tarfile.TarInfo("state.bin"), content), (tarfile.TarInfo("SHA256SUMS"), _sums(content))),
        _packed((link, b"")),
        gzip.compress(b"not a tar"),
    ):
        path.write_bytes(packed)
        with pytest.raises(ArchiveRefused, match="failed to restore from snapshot"):
            read_archive(path)
        assert list(tmp_path.iterdir()) == [path]
