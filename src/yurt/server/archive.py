"""Snapshot archives: State in a file that operators keep, and back."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from yurt.errors import YurtError
from yurt.log.snapshot import read_snapshot, write_snapshot
from yurt.log.snapshot_format import SnapshotHeader
from yurt.state.snapshot import load, measured
from yurt.state.state import State
from yurt.version import VERSION

META_FILE = "meta.json"
STATE_FILE = "state.bin"
CHECKSUM_FILE = "SHA256SUMS"
GZIP_LEVEL = 1
_READ_BYTES = 1 << 20


class ArchiveRefused(YurtError):
    """The archive cannot be restored."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"failed to restore from snapshot: {reason}")


class ArchiveMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What an archive says about itself."""

    index: int
    created_at_ns: int
    tables: dict[str, int]

    def as_json(self, sizes: dict[str, int]) -> bytes:
        """The description, with the names that tools look for; `sizes` are the bytes that tables take."""
        return json.dumps(
            {
                "ID": f"{self.index}-{self.created_at_ns // 1_000_000}",
                "Index": self.index,
                "Term": 1,
                "Version": 1,
                "Product": f"yurt {VERSION}",
                "Tables": self.tables,
                "TableSizes": sizes,
            }
        ).encode()


def write_archive(target: Path, header: SnapshotHeader, chunks: Iterator[bytes], meta: ArchiveMeta) -> str:
    """Write an archive of State's chunks, in the calling thread; returns its SHA-256 in hex."""
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        sizes: dict[str, int] = {}
        state_path = write_snapshot(Path(work), header, measured(chunks, sizes))
        described = meta.as_json(sizes)
        sums = f"{_sha256(state_path)}  {STATE_FILE}\n{hashlib.sha256(described).hexdigest()}  {META_FILE}\n"
        with (
            target.open("wb") as raw,
            gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=GZIP_LEVEL, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            _add(archive, META_FILE, described, header)
            with state_path.open("rb") as state_file:
                info = tarfile.TarInfo(STATE_FILE)
                info.size = state_path.stat().st_size
                info.mtime = header.created_at_ns // 1_000_000_000
                archive.addfile(info, state_file)
            _add(archive, CHECKSUM_FILE, sums.encode(), header)
    return _sha256(target)


def read_archive(source: Path) -> State:
    """Read the State of an archive, in the calling thread. Raises ArchiveRefused; checks everything."""
    with source.open("rb") as raw:
        if raw.read(2) != b"\x1f\x8b":
            raise ArchiveRefused("failed to decompress snapshot: gzip: invalid header")
    with tempfile.TemporaryDirectory(dir=source.parent) as work:
        state_path = Path(work) / STATE_FILE
        sums = ""
        try:
            with tarfile.open(source, "r:gz") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isfile() else None
                    if content is None:
                        continue
                    if member.name == STATE_FILE:
                        with state_path.open("wb") as file:
                            while part := content.read(_READ_BYTES):
                                file.write(part)
                    elif member.name == CHECKSUM_FILE:
                        sums = content.read(_READ_BYTES).decode(errors="replace")
        except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
            raise ArchiveRefused(f"failed to read snapshot file: {error}") from error
        if not state_path.exists() or f"{_sha256(state_path)}  {STATE_FILE}" not in sums.splitlines():
            raise ArchiveRefused("the archive is incomplete or damaged; use another copy")
        try:
            _, chunks = read_snapshot(state_path)
            return load(chunks)
        except YurtError as error:
            raise ArchiveRefused(str(error)) from error


def _add(archive: tarfile.TarFile, name: str, content: bytes, header: SnapshotHeader) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mtime = header.created_at_ns // 1_000_000_000
    archive.addfile(info, io.BytesIO(content))


def _sha256(path: Path) -> str:
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_READ_BYTES):
            sha.update(part)
    return sha.hexdigest()
