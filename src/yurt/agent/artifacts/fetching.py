"""Fetch one artifact: get it, check it, unpack it, put it in place."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import urllib.parse
from collections.abc import Coroutine, Mapping
from typing import Any

import msgspec

from yurt.agent.access.confined import PathEscapes
from yurt.agent.artifacts import git_getter, http_getter
from yurt.agent.artifacts.checksums import FILE_PREFIX, Checksum, find_checksum, read_checksum, verify
from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.placing import inspect, place_file, place_tree, single_file
from yurt.agent.artifacts.sources import FILE, GIT, HTTP, MODE_DIR, MODE_FILE, Source, read_source
from yurt.agent.artifacts.unpacking import UnpackLimits, unpack
from yurt.agent.launcher import Identity
from yurt.agent.outgoing import Network, check_host
from yurt.agent.settings import ArtifactSettings
from yurt.agent.task_paths import Place
from yurt.clock import Clock

CHECKSUM_FILE_BYTES_MAX = 1 << 20
FILE_MODE = 0o644


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """What to fetch, and where to; all its `${…}` are replaced. Nobody in `denied` is asked for it."""

    source: str
    options: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    mode: str = "any"
    insecure: bool = False
    place: Place
    owner: Identity | None = None
    denied: tuple[Network, ...] = ()


async def fetch(artifact: Artifact, scratch: str, settings: ArtifactSettings, clock: Clock) -> None:
    """Fetch an artifact. `scratch` is a directory that does not exist yet, on the same disk; it is removed.

    Raises FetchFailed.
    """
    await asyncio.to_thread(_make_new, scratch)
    # A thread cannot be cancelled, only asked.
    stop = threading.Event()
    try:
        source = read_source(artifact.source, artifact.options)
        work = _fetch(artifact, source, scratch, settings, stop)
        await _in_time(work, _limit_s(source, settings), clock)
    except PathEscapes as error:
        raise FetchFailed(f"destination {artifact.place.full}: {error}") from error
    except OSError as error:
        raise FetchFailed(str(error)) from error
    finally:
        stop.set()
        await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)


def _make_new(scratch: str) -> None:
    """Make the directory; what an agent that was killed left there is removed. Blocks."""
    shutil.rmtree(scratch, ignore_errors=True)
    os.mkdir(scratch, 0o700)


def _limit_s(source: Source, settings: ArtifactSettings) -> float:
    return settings.git_timeout_s if source.getter == GIT else settings.http_read_timeout_s


async def _in_time(work: Coroutine[Any, Any, None], limit_s: float, clock: Clock) -> None:
    doing = asyncio.ensure_future(work)
    pause = asyncio.ensure_future(clock.sleep(limit_s))
    try:
        await asyncio.wait((doing, pause), return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise FetchFailed(f"it was not fetched within {limit_s:g} s")
        doing.result()
    finally:
        pause.cancel()
        doing.cancel()
        await asyncio.wait((doing,))


async def _fetch(
    artifact: Artifact, source: Source, scratch: str, settings: ArtifactSettings, stop: threading.Event
) -> None:
    tree, file = f"{scratch}/tree", f"{scratch}/file"
    if source.getter == GIT:
        if artifact.mode == MODE_FILE:
            raise FetchFailed("mode file cannot hold a repository; use any or dir")
        is_local = source.url.startswith(f"{FILE}://")
        if is_local:
            await asyncio.to_thread(_local_path, source, settings)
        else:
            await check_host(urllib.parse.urlsplit(source.url).hostname or "", artifact.denied)
        git_files = f"{scratch}/git"
        await asyncio.to_thread(os.mkdir, git_files, 0o700)
        await git_getter.get(source, tree, scratch=git_files, allow_files=is_local)
    else:
        if source.getter == HTTP:
            await http_getter.get(source.url, file, _access(artifact), bytes_max=settings.http_max_bytes)
        else:
            await asyncio.to_thread(_copy_local, source, file, settings)
        await _verify(artifact, source, file, scratch, settings)
        if not source.archive:
            await asyncio.to_thread(_place_plain, artifact, source, file)
            return
        limits = UnpackLimits(files_max=settings.unpacked_files_max, bytes_max=settings.unpacked_bytes_max)
        await asyncio.to_thread(os.mkdir, tree, 0o755)
        await asyncio.to_thread(
            unpack, file, source.archive, tree, name=source.name, limits=limits, stop=stop.is_set
        )
    await asyncio.to_thread(_place_unpacked, artifact, source, tree, settings)


def _access(artifact: Artifact) -> http_getter.Access:
    return http_getter.Access(headers=artifact.headers, insecure=artifact.insecure, denied=artifact.denied)


async def _verify(
    artifact: Artifact, source: Source, file: str, scratch: str, settings: ArtifactSettings
) -> None:
    if not source.checksum:
        return
    checksum = await _checksum(source, scratch, artifact, settings)
    shown = artifact.place.full if artifact.mode == MODE_FILE else f"{artifact.place.full}/{source.name}"
    await asyncio.to_thread(verify, file, checksum, shown_path=shown)


async def _checksum(source: Source, scratch: str, artifact: Artifact, settings: ArtifactSettings) -> Checksum:
    if not source.checksum.startswith(FILE_PREFIX):
        return read_checksum(source.checksum)
    listed = read_source(source.checksum.removeprefix(FILE_PREFIX), {"archive": "false"})
    if listed.getter != HTTP:
        raise FetchFailed("a checksum file must be at an http or https URL")
    path = f"{scratch}/checksums"
    await http_getter.get(listed.url, path, _access(artifact), bytes_max=CHECKSUM_FILE_BYTES_MAX)
    return find_checksum(await asyncio.to_thread(_text, path), source.name)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _copy_local(source: Source, target: str, settings: ArtifactSettings) -> None:
    """Copy a file of this machine. Blocks."""
    with open(_local_path(source, settings), "rb") as file, open(target, "xb") as copy:
        shutil.copyfileobj(file, copy)


def _local_path(source: Source, settings: ArtifactSettings) -> str:
    """A path of this machine that the operator offers to tasks. Blocks. Raises FetchFailed for others."""
    path = os.path.realpath(source.url.removeprefix(f"{FILE}://").partition("?")[0])
    roots = [os.path.realpath(root) for root in settings.file_roots]
    if not any(path == root or path.startswith(f"{root.rstrip('/')}/") for root in roots):
        raise FetchFailed(f"files of this machine are not offered to tasks: {path}")
    return path


def _place_plain(artifact: Artifact, source: Source, file: str) -> None:
    os.chmod(file, FILE_MODE)
    if artifact.mode == MODE_DIR:
        raise FetchFailed("mode dir needs an archive or a repository, and the source is a plain file")
    place = artifact.place
    if artifact.mode != MODE_FILE:
        if not source.name:
            raise FetchFailed("the source's URL names no file; give it a filename option")
        place = Place(place.root, f"{place.path}/{source.name}")
    place_file(file, place, owner=artifact.owner)


def _place_unpacked(artifact: Artifact, source: Source, tree: str, settings: ArtifactSettings) -> None:
    if settings.inspects:
        inspect(tree)
    if source.subdir:
        tree = f"{tree}/{source.subdir}"
        if not os.path.isdir(tree) or os.path.islink(tree):
            raise FetchFailed(f"the artifact has no directory {source.subdir!r}")
    if artifact.mode == MODE_FILE:
        place_file(single_file(tree), artifact.place, owner=artifact.owner)
    else:
        place_tree(tree, artifact.place, owner=artifact.owner)
