"""Unpack archives that somebody else has made: nothing leaves the target, nothing grows without limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import posixpath
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import IO, cast

import msgspec

from yurt.agent.artifacts.errors import FetchFailed

CHUNK_BYTES = 1 << 20
# Headers of tar files are read in one piece, whatever size they claim.
HEADER_BYTES_MAX = 1 << 20
PATH_CHARS_MAX = 4096
DEPTH_MAX = 100
LINKS_MAX = 40
FILE_MODE_DEFAULT = 0o644
DIR_MODE_DEFAULT = 0o755

_SHORT_KINDS = {"tgz": "gz", "tbz2": "bz2", "txz": "xz", "tzst": "zst"}


# What the libraries raise for archives that are damaged, or written in a way they do not know.
_BAD_ARCHIVE = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, lzma.LZMAError, zlib.error),
    *(EOFError, ValueError, NotImplementedError, RuntimeError),
)


class UnpackLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much an archive may hold; 0 is no limit."""

    files_max: int = 4096
    bytes_max: int = 100 * 10**9


def unpack(
    archive: str,
    kind: str,
    target: str,
    *,
    name: str,
    limits: UnpackLimits,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Unpack `archive` into the directory `target`, which must be ours alone. Blocks, until told to `stop`.

    `name` is what a single compressed file is called with its suffix. Raises FetchFailed.
    """
    writer = _Writer(target, limits, stop)
    try:
        match kind:
            case "zip":
                _unzip(archive, writer)
            case "gz" | "bz2" | "xz":
                with _decompressed(archive, kind) as content:
                    writer.file(name.removesuffix(f".{kind}") or name, content, FILE_MODE_DEFAULT)
            case _ if kind.startswith("tar") or kind in _SHORT_KINDS:
                compression = {"tgz": "gz", "tbz2": "bz2", "txz": "xz"}.get(
                    kind, kind.removeprefix("tar").lstrip(".")
                )
                _check_compression(compression)
                with _decompressed(archive, compression) as content:
                    _untar(content, writer)
            case _:
                _check_compression(kind)
    except _BAD_ARCHIVE as error:
        raise FetchFailed(f"{kind} archive cannot be read: {error}") from error
    writer.finish()


def _check_compression(kind: str) -> None:
    if kind not in ("", "gz", "bz2", "xz"):
        raise FetchFailed(
            f"{kind} archives cannot be unpacked on this node; offer tar.gz, tar.xz or zip instead"
        )


def _decompressed(path: str, kind: str) -> IO[bytes]:
    match kind:
        case "gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        case "bz2":
            return bz2.open(path, "rb")
        case "xz":
            return lzma.open(path, "rb")
    return open(path, "rb")


def _untar(content: IO[bytes], writer: _Writer) -> None:
    with tarfile.open(fileobj=_SmallReads(content), mode="r:") as archive:
        for member in archive:
            if member.isdir():
                writer.directory(member.name, member.mode)
            elif member.isreg():
                body = archive.extractfile(member)
                assert body is not None
                writer.file(member.name, body, member.mode)
            elif member.issym():
                writer.symlink(member.name, member.linkname)
            elif member.islnk():
                writer.hard_link(member.name, member.linkname)
            else:
                raise FetchFailed(f"archive entry {member.name!r} is neither file, directory nor link")


class _SmallReads(io.RawIOBase):
    """A stream that refuses to read a lot at once, which only a huge header of a tar file asks for."""

    def __init__(self, inner: IO[bytes]) -> None:
        super().__init__()
        self._inner = inner

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= HEADER_BYTES_MAX:
            raise FetchFailed(f"archive has a header of {size} bytes; at most {HEADER_BYTES_MAX} are read")
        return self._inner.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()


def _unzip(path: str, writer: _Writer) -> None:
    with zipfile.ZipFile(path) as archive:
        writer.check_count(len(archive.infolist()))
        for member in archive.infolist():
            mode = member.external_attr >> 16
            if member.flag_bits & 0x1:
                raise FetchFailed(f"archive entry {member.filename!r} is encrypted")
            if member.is_dir():
                writer.directory(member.filename, mode or DIR_MODE_DEFAULT)
            elif stat.S_ISLNK(mode):
                with archive.open(member) as body:
                    writer.symlink(member.filename, body.read(PATH_CHARS_MAX + 1).decode(errors="replace"))
            elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
                with archive.open(member) as body:
                    writer.file(member.filename, body, mode or FILE_MODE_DEFAULT)
            else:
                raise FetchFailed(f"archive entry {member.filename!r} is neither file, directory nor link")


class _Writer:
    """Writes what comes out of an archive below a directory that nobody else writes to.

    Links are made last, so that no entry is written through one.
    """

    def __init__(self, target: str, limits: UnpackLimits, stop: Callable[[], bool]) -> None:
        self._target = target
        self._limits = limits
        self._stop = stop
        self._entries = 0
        self._bytes = 0
        self._links: dict[str, str] = {}

    def directory(self, name: str, mode: int) -> None:
        path = self._path(name)
        if path:
            os.makedirs(self._full(path), exist_ok=True)
            # Its owner must be able to fill it.
            os.chmod(self._full(path), (mode & 0o777) | 0o700)

    def file(self, name: str, content: IO[bytes], mode: int) -> None:
        path = self._path(name)
        if not path:
            raise FetchFailed(f"archive entry {name!r} is no file name")
        self._make_room(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self._full(path), flags, 0o600), "wb") as file:
            while chunk := content.read(CHUNK_BYTES):
                self._check_stop()
                self._bytes += len(chunk)
                if 0 < self._limits.bytes_max < self._bytes:
                    raise FetchFailed(f"archive holds more than {self._limits.bytes_max} bytes")
                file.write(chunk)
            os.fchmod(file.fileno(), (mode & 0o777) | 0o600)

    def hard_link(self, name: str, of: str) -> None:
        path, original = self._path(name), self._path(of, counts=False)
        if not path or not os.path.isfile(self._full(original)) or os.path.islink(self._full(original)):
            raise FetchFailed(f"archive entry {name!r} links to {of!r}, which is no file of it")
        self._make_room(path)
        if os.path.lexists(self._full(path)):
            os.unlink(self._full(path))
        os.link(self._full(original), self._full(path))

    def symlink(self, name: str, to: str) -> None:
        path = self._path(name)
        if not path or not to or len(to) > PATH_CHARS_MAX:
            raise FetchFailed(f"archive entry {name!r} is no link")
        self._links[path] = to

    def finish(self) -> None:
        """Make the links, if all of them stay inside."""
        check_links(self._links)
        for path, to in self._links.items():
            self._make_room(path)
            if os.path.lexists(self._full(path)):
                raise FetchFailed(f"archive holds {path!r} twice")
            os.symlink(to, self._full(path))

    def check_count(self, count: int) -> None:
        if 0 < self._limits.files_max < count:
            raise FetchFailed(f"archive holds more than {self._limits.files_max} files")

    def _path(self, name: str, *, counts: bool = True) -> str:
        """A name as a path below the target; empty for the target itself."""
        self._check_stop()
        if counts:
            self._entries += 1
            self.check_count(self._entries)
        clean = posixpath.normpath(name)
        if name.startswith("/") or clean == ".." or clean.startswith("../") or "\0" in name:
            raise FetchFailed(f"archive entry {name!r} leads out of the archive")
        if len(clean) > PATH_CHARS_MAX or clean.count("/") > DEPTH_MAX:
            raise FetchFailed(f"archive entry {name[:PATH_CHARS_MAX]!r} has too long a path")
        return "" if clean == "." else clean

    def _check_stop(self) -> None:
        if self._stop():
            raise FetchFailed("nobody wants the archive any more")

    def _make_room(self, path: str) -> None:
        parent = posixpath.dirname(path)
        if parent:
            os.makedirs(self._full(parent), mode=DIR_MODE_DEFAULT, exist_ok=True)

    def _full(self, path: str) -> str:
        return f"{self._target}/{path}"


def check_links(links: Mapping[str, str]) -> None:
    """Refuse links, by their paths in a tree, any of which leads out of it. Raises FetchFailed."""
    for path, to in links.items():
        if not _stays_inside(path, links):
            raise FetchFailed(f"link {path!r} to {to!r} leads out of the artifact")


def _stays_inside(path: str, links: Mapping[str, str]) -> bool:
    """Walk a path as the system would, through links and up again."""
    here: list[str] = []
    left = path.split("/")
    followed = 0
    while left:
        part = left.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            if not here:
                return False
            here.pop()
            continue
        here.append(part)
        to = links.get("/".join(here))
        if to is not None:
            followed += 1
            if to.startswith("/") or followed > LINKS_MAX:
                return False
            here.pop()
            left = to.split("/") + left
    return True
