"""Move an allocation's data between nodes: pack it on one, fetch and unpack it on the other."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import ssl
import stat
import tarfile
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from yurt.agent.alloc_dir import SHARED
from yurt.errors import YurtError
from yurt.import_later import aiohttp
from yurt.model.wire import AllocID

CHUNK_BYTES = 1 << 16
CONNECT_TIMEOUT_S = 10.0
# Between two parts of a snapshot; the whole takes as long as it takes.
READ_TIMEOUT_S = 60.0
TOKEN_HEADER = "X-Nomad-Token"  # noqa: S105 - a header's name
_STAGING = ".migrating"
# Without blocking: what was a file a moment ago may be a pipe by now.
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class MigrationFailed(YurtError):
    """The data could not be moved."""


def error_file(alloc_id: AllocID) -> str:
    """The file that tells, at the end of a snapshot, that not all could be read."""
    return f"NOMAD-{alloc_id}-ERROR.log"


def data_dirs(tasks: Iterable[str]) -> tuple[str, ...]:
    """What moves with an allocation, as paths below its directory."""
    return (f"{SHARED}/data", *(f"{task}/local" for task in tasks))


# --- on the node that has the data ------------------------------------------------------------------


async def snapshot(root: Path, alloc_id: AllocID, tasks: Iterable[str]) -> AsyncIterator[bytes]:
    """A tar archive of what moves with an allocation, in parts."""
    reading, writing = os.pipe()
    packing = asyncio.ensure_future(asyncio.to_thread(_pack, writing, root, alloc_id, tuple(tasks)))
    try:
        while part := await asyncio.to_thread(os.read, reading, CHUNK_BYTES):
            yield part
    finally:
        # Ends the packing of who no longer listens.
        os.close(reading)
        await packing


def _pack(writing: int, root: Path, alloc_id: AllocID, tasks: tuple[str, ...]) -> None:
    """Write the archive to a pipe. Blocks."""
    with (
        contextlib.suppress(BrokenPipeError),
        os.fdopen(writing, "wb") as pipe,
        tarfile.open(fileobj=pipe, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        try:
            for top in data_dirs(tasks):
                if (root / top).is_dir():
                    _pack_dir(archive, root, top)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            text = str(error).encode()
            told = tarfile.TarInfo(error_file(alloc_id))
            told.size, told.mode = len(text), 0o666
            archive.addfile(told, io.BytesIO(text))


def _pack_dir(archive: tarfile.TarFile, root: Path, top: str) -> None:
    """Add a directory with all below it. No link is followed, wherever tasks have put one."""
    for directory, folders, files, fd in os.fwalk(root / top, follow_symlinks=False):
        below = os.path.relpath(directory, root)
        archive.addfile(_info(below, os.fstat(fd), tarfile.DIRTYPE))
        # Links to directories are listed among the directories.
        for name in (*folders, *files):
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                info = _info(f"{below}/{name}", found, tarfile.SYMTYPE)
                info.linkname = os.readlink(name, dir_fd=fd)
                archive.addfile(info)
            elif stat.S_ISREG(found.st_mode):
                with open(os.open(name, _OPEN_FILE, dir_fd=fd), "rb") as file:
                    info = _info(f"{below}/{name}", os.fstat(file.fileno()), tarfile.REGTYPE)
                    info.size = os.fstat(file.fileno()).st_size
                    archive.addfile(info, file)


def _info(name: str, found: os.stat_result, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode = kind, stat.S_IMODE(found.st_mode)
    info.uid, info.gid, info.mtime = found.st_uid, found.st_gid, int(found.st_mtime)
    return info


# --- on the node that gets it -----------------------------------------------------------------------


async def fetch_snapshot(
    url: str, token: str, *, tls: ssl.SSLContext | None = None, name: str = ""
) -> AsyncIterator[bytes]:
    """The parts of a snapshot that another node has. Raises MigrationFailed.

    Over https `tls` says whom to believe, None whom the machine does, and `name` what the certificate says.
    """
    headers = {TOKEN_HEADER: token, "Accept-Encoding": "identity"}
    limits = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=READ_TIMEOUT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=limits) as session,
            session.get(url, headers=headers, ssl=tls or True, server_hostname=name or None) as answer,
        ):
            if answer.status != 200:
                text = (await answer.content.read(CHUNK_BYTES)).decode(errors="replace").strip()
                raise MigrationFailed(f"{url} answered {answer.status}: {text}")
            async for part in answer.content.iter_any():
                yield part
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise MigrationFailed(f"{url}: {str(error) or type(error).__name__}") from error


async def take_over(parts: AsyncIterator[bytes], root: Path, previous: AllocID, tasks: Iterable[str]) -> None:
    """Unpack a snapshot into an allocation's directory: all of it or, with MigrationFailed, nothing.

    Only what belongs to `tasks`, or to all, is kept.
    """
    staging = root / _STAGING
    await asyncio.to_thread(_make_staging, staging)
    reading, writing = os.pipe()
    unpacking = asyncio.ensure_future(asyncio.to_thread(_unpack, reading, staging, previous))
    try:
        try:
            with contextlib.suppress(BrokenPipeError):  # the unpacking says what is wrong
                async for part in parts:
                    await asyncio.to_thread(_write_all, writing, part)
        finally:
            os.close(writing)
            await asyncio.wait((unpacking,))
        unpacking.result()
        await asyncio.to_thread(_put_in_place, staging, root, tuple(tasks))
    except (OSError, tarfile.TarError) as error:
        raise MigrationFailed(f"the snapshot of {previous} cannot be unpacked: {error}") from error
    finally:
        await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)


def _make_staging(staging: Path) -> None:
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(mode=0o700)


def _write_all(descriptor: int, part: bytes) -> None:
    while part:
        part = part[os.write(descriptor, part) :]


def _unpack(reading: int, staging: Path, previous: AllocID) -> None:
    """Unpack what comes through a pipe. Blocks; raises OSError, TarError and MigrationFailed."""
    with os.fdopen(reading, "rb") as pipe, tarfile.open(fileobj=pipe, mode="r|") as archive:
        for info in archive:
            if info.name == error_file(previous):
                raise MigrationFailed(f"the other node could not read all: {_text(archive, info)}")
            if not (info.isreg() or info.isdir() or info.issym()):
                raise MigrationFailed(f"{info.name!r} is neither file, directory nor link")
            # Refuses names that lead out, through links unpacked before as well; owners are kept.
            archive.extract(info, staging, numeric_owner=True, filter="tar")


def _text(archive: tarfile.TarFile, info: tarfile.TarInfo) -> str:
    file = archive.extractfile(info)
    return file.read(CHUNK_BYTES).decode(errors="replace") if file else ""


def _put_in_place(staging: Path, root: Path, tasks: tuple[str, ...]) -> None:
    """Replace the fresh directories by the old data. Blocks."""
    for name in data_dirs(tasks):
        origin, place = staging / name, root / name
        if origin.is_dir() and not origin.is_symlink() and place.is_dir():
            place.rmdir()
            origin.rename(place)
