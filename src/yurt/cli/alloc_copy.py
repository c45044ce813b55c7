"""Copying between this machine and an allocation: out over its files, in through a task."""

import io
import shlex
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from yurt.cli.errors import CommandError, failing_as
from yurt.sdk import Client, SdkError, allocs
from yurt.sdk.exec_session import ExecSession
from yurt.sdk.types.allocs import Alloc, FileInfo

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

FILES_MAX = 100_000
DEPTH_MAX = 64
CHUNK_BYTES = 48 * 1024
# The task's own names of the directories that `alloc fs` shows.
_ROOTS = {"local": "NOMAD_TASK_DIR", "secrets": "NOMAD_SECRETS_DIR"}


class Place(NamedTuple):
    """A path, here when `alloc` is empty."""

    alloc: str
    path: str


class Copied(NamedTuple):
    """How much was copied."""

    files: int
    byte_count: int


def read_place(text: str) -> Place:
    """Read `<allocation>:<path>` or a local path. A path with a slash before its colon is local."""
    alloc, colon, path = text.partition(":")
    if not colon or "/" in alloc or not alloc:
        return Place("", text)
    return Place(alloc, path or "/")


def copy_out(client: Client, alloc_id: str, source: str, destination: str) -> Copied:
    """Copy a file or a directory with all below it. A directory that exists takes the source in."""
    with failing_as(f"Error reading {source}"):
        info = allocs.file_info(client, alloc_id, source).value
    target = Path(destination)
    if target.is_dir():
        target = target / (PurePosixPath(source).name or f"alloc-{alloc_id[:8]}")
    files = byte_count = 0
    try:
        for path, relative, found in _walk(client, alloc_id, source, info):
            local = target / relative if relative else target
            if found.is_dir:
                local.mkdir(parents=True, exist_ok=True)
                continue
            byte_count += _fetch(client, alloc_id, path, local)
            local.chmod(_mode(found.file_mode))
            files += 1
    except OSError as error:
        raise CommandError(f"Error writing {error.filename}: {(error.strerror or '').lower()}") from error
    return Copied(files, byte_count)


def _walk(client: Client, alloc_id: str, source: str, info: FileInfo) -> Iterator[tuple[str, str, FileInfo]]:
    """Yield a path, its place below the source and what it is, directories before what is in them."""
    waiting = [(source.rstrip("/") or "/", "", info)]
    seen = 0
    while waiting:
        path, relative, found = waiting.pop()
        seen += 1
        if seen > FILES_MAX or relative.count("/") > DEPTH_MAX:
            raise CommandError(
                f"{source} has more than {FILES_MAX} files or {DEPTH_MAX} levels; copy parts of it"
            )
        # Links, pipes and devices are left where they are: they may lead anywhere.
        if not found.is_dir and not found.file_mode.startswith("-"):
            continue
        yield path, relative, found
        if found.is_dir:
            with failing_as(f"Error reading {path}"):
                entries = allocs.list_files(client, alloc_id, path).value
            for entry in entries:
                # A name is one step down, never up: the server is not trusted with our file system.
                if entry.name and "/" not in entry.name and entry.name not in (".", ".."):
                    below = f"{relative}/{entry.name}" if relative else entry.name
                    waiting.append((f"{path.rstrip('/')}/{entry.name}", below, entry))


def _fetch(client: Client, alloc_id: str, path: str, local: Path) -> int:
    count = 0
    content = allocs.stream_file(client, alloc_id, path, follow=False)
    with failing_as(f"Error reading {path}"), content as stream, local.open("wb") as file:
        for data in allocs.data_of(stream):
            file.write(data)
            count += len(data)
    return count


def _mode(text: str) -> int:
    bits = text[-9:]
    return sum(1 << (8 - place) for place, letter in enumerate(bits) if letter in "rwx")


def inner_path(path: str, task: str) -> str:
    """What a shell inside `task` calls a path of the allocation's directory. Raises `CommandError`."""
    parts = [part for part in PurePosixPath(path.lstrip("/")).parts if part != "."]
    if ".." in parts:
        raise CommandError(f"{path} leads out of the allocation's directory")
    if parts[:1] == ["alloc"]:
        return '"$NOMAD_ALLOC_DIR"/' + shlex.quote("/".join(parts[1:]))
    if parts[:1] == [task] and len(parts) > 1 and parts[1] in _ROOTS:
        return f'"${_ROOTS[parts[1]]}"/' + shlex.quote("/".join(parts[2:]))
    raise CommandError(
        f"Files can be copied to alloc/..., {task}/local/... and {task}/secrets/...; {path} is none of these"
    )


def copy_in(client: Client, alloc: Alloc, task: str, *, source: str, destination: str) -> Copied:
    """Copy a file or a directory into a running task, as a tar stream to its own `tar`.

    A destination that ends in a slash, or is a directory, takes the source in.
    """
    local = Path(source)
    if not local.exists():
        raise CommandError(f"Error reading {source}: no such file or directory")
    target = inner_path(destination, task)
    name = local.resolve().name
    # The destination is a directory, or it is the new name of what is copied.
    script = (
        f'set -e; d={target}; case $d in */) mkdir -p "$d";; esac; '
        f'if [ -d "$d" ]; then tar -xf - -C "$d"; else '
        f'mkdir -p "$(dirname "$d")"; t=$(mktemp -d "$(dirname "$d")/.cp.XXXXXX"); '
        f'tar -xf - -C "$t"; mv "$t"/{shlex.quote(name)} "$d"; rmdir "$t"; fi'
    )
    try:
        session = ExecSession.in_task(
            client, alloc.id, task=task, command=["/bin/sh", "-c", script], tty=False
        )
    except SdkError as error:
        raise CommandError(f"Error copying into task {task}: {error}") from error
    sink = _InputOf(session)
    sender = threading.Thread(target=_send, args=(sink, local, name), name="copy", daemon=True)
    sender.start()
    problem = b""
    code = None
    try:
        for message in session.messages():
            for output in (message.stdout, message.stderr):
                problem += output.data if output is not None else b""
            if message.exited:
                code = message.result.exit_code if message.result else 0
                break
    except SdkError as error:
        raise CommandError(f"Error copying into task {task}: {error}") from error
    finally:
        session.close()
        sender.join()
    if code != 0:
        said = problem.decode(errors="replace").strip() or "the task ended the copy"
        raise CommandError(f"Error copying into task {task}: {said} (it needs 'sh' and 'tar')")
    return Copied(sink.files, sink.byte_count)


class _InputOf(io.RawIOBase):
    """The input of a command as a file."""

    def __init__(self, session: ExecSession) -> None:
        super().__init__()
        self._session = session
        self.files = 0
        self.byte_count = 0

    def write(self, data: "Buffer") -> int:
        """Send bytes, in messages of a bounded size."""
        data = bytes(data)
        for start in range(0, len(data), CHUNK_BYTES):
            self._session.send_input(data[start : start + CHUNK_BYTES])
        return len(data)

    def end(self) -> None:
        """Tell the command that there is no more."""
        self._session.close_input()


def _send(sink: _InputOf, local: Path, name: str) -> None:
    def count(member: tarfile.TarInfo) -> tarfile.TarInfo:
        if member.isfile():
            sink.files += 1
            sink.byte_count += member.size
        # Owners mean nothing on another machine.
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    try:
        with tarfile.open(fileobj=sink, mode="w|", format=tarfile.GNU_FORMAT) as archive:
            archive.add(local, arcname=name, filter=count)
        sink.end()
    except (SdkError, OSError):
        return
