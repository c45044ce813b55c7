"""Snapshot archives: a gzipped tar of `meta.json`, the state and the checksums of both."""

import base64
import hashlib
import json
import tarfile
from typing import Any, NamedTuple

from yurt.errors import YurtError

CHECKSUM_FILE = "SHA256SUMS"
META_FILE = "meta.json"
META_BYTES_MAX = 16 * 1024 * 1024
READ_BYTES = 1024 * 1024


class SnapshotProblem(YurtError):
    """The archive is damaged, or is none."""


class SnapshotInfo(NamedTuple):
    """What an archive says about itself; `state_bytes` is the size of the state in it."""

    meta: dict[str, Any]
    state_bytes: int
    modified: int


def inspect_snapshot(path: str) -> SnapshotInfo:
    """Read an archive's description and check the checksums. Raises `SnapshotProblem` or `OSError`."""
    digests: dict[str, str] = {}
    sizes: dict[str, int] = {}
    modified = 0
    texts: dict[str, bytes] = {}
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is None:
                    continue
                sha = hashlib.sha256()
                while chunk := file.read(READ_BYTES):
                    sha.update(chunk)
                    if member.name in {META_FILE, CHECKSUM_FILE} and member.size <= META_BYTES_MAX:
                        texts[member.name] = texts.get(member.name, b"") + chunk
                digests[member.name] = sha.hexdigest()
                sizes[member.name] = member.size
                modified = max(modified, int(member.mtime))
        meta = json.loads(texts[META_FILE])
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise SnapshotProblem(f"it is no snapshot archive, or damaged: {error}") from error
    except KeyError as error:
        raise SnapshotProblem("it is no snapshot archive: it holds no meta.json") from error
    _check_sums(texts.get(CHECKSUM_FILE, b"").decode(errors="replace"), digests)
    state = sum(size for name, size in sizes.items() if name not in {META_FILE, CHECKSUM_FILE})
    return SnapshotInfo(meta, state, modified)


def _check_sums(listing: str, digests: dict[str, str]) -> None:
    expected = {}
    for line in listing.splitlines():
        digest, _, name = line.partition(" ")
        expected[name.strip()] = digest
    for name, digest in digests.items():
        if name != CHECKSUM_FILE and expected.get(name, "") != digest:
            raise SnapshotProblem(f"the checksum of {name} in it does not match; fetch or save it again")


def check_digest(path: str, header: str) -> None:
    """Compare a file with the `Digest` header it came with; an empty header checks nothing."""
    algorithm, _, encoded = header.partition("=")
    if algorithm != "sha-256":
        return
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(READ_BYTES):
            sha.update(chunk)
    if base64.b64encode(sha.digest()).decode() != encoded:
        raise SnapshotProblem("its checksum does not match; the transfer was damaged, try again")
