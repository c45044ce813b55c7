"""What of the host a task finds in its own root, which is its task directory."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from yurt.agent.drivers.commands import make_executable

DEFAULT_CHROOT_ENV = MappingProxyType(
    {
        path: path
        for path in (
            "/bin",
            "/etc",
            "/lib",
            "/lib32",
            "/lib64",
            "/run/resolvconf",
            "/run/systemd/resolve",
            "/sbin",
            "/usr",
        )
    }
)
"""Host path → path in the task's root."""

COMMAND_DIRS = ("/usr/local/bin", "/usr/bin", "/bin")
_OPEN_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Bind(msgspec.Struct, frozen=True):
    """A host path to be mounted at an absolute path in the task's root."""

    source: str
    target: str
    readonly: bool = True


def find_in_root(command: str, task_dir: str, binds: Iterable[Bind]) -> str | None:
    """The path in the task's root that `command` names; None when there is none.

    Looked for in the task's `local`, from the root on, and a name without a slash in COMMAND_DIRS. A file
    of the task's own is made executable.
    """
    mounted = sorted(binds, key=lambda bind: len(bind.target), reverse=True)
    places = [f"/local/{command}", f"/{command.lstrip('/')}"]
    if "/" not in command:
        places += [f"{directory}/{command}" for directory in COMMAND_DIRS]
    for place in places:
        bind = next((bind for bind in mounted if _below(place, bind.target)), None)
        path = f"{bind.source}/{_below(place, bind.target)}" if bind else f"{task_dir}{place}"
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            continue
        # Where a link leads is for the runtime to say, which sees it inside the root.
        if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            if bind is None:
                make_executable(path)
            return place
    return None


def plan_root(
    task_dir: str, chroot_env: Mapping[str, str], *, mount_points: tuple[str, ...] = (), hidden: str
) -> list[Bind]:
    """Prepare the root in `task_dir` and tell what to mount there, outermost first. Blocks.

    The host's directories are mounted whole and read-only: nothing is copied and nothing can be changed.
    Only where the task has files of its own in such a directory, or where one of `mount_points` (other
    mounts' targets) is missing there, are both merged: the task's files stay, the host's directories are
    mounted beside them, and its single files copied. The host path `hidden` is never shown: it holds the
    directories of all allocs.
    """
    binds: list[Bind] = []
    hidden = os.path.realpath(hidden)
    root = os.open(task_dir, _OPEN_DIR)
    try:
        for target in mount_points:
            if source := _mapped_dir(chroot_env, target):
                _make_mount_point(root, source, target)
        for source, target in sorted(chroot_env.items(), key=lambda entry: entry[1]):
            binds += _bind(source, root, target.strip("/"), hidden=hidden)
    finally:
        os.close(root)
    return [msgspec.structs.replace(bind, target=f"/{bind.target}") for bind in binds]


def _bind(source: str, root: int, target: str, *, hidden: str) -> Iterator[Bind]:
    """Bind `source` at `target`, or its parts where it cannot be bound whole."""
    try:
        kind = stat.S_IFMT(os.stat(source).st_mode)
    except OSError:  # most hosts lack some of the usual directories
        return
    if kind not in (stat.S_IFDIR, stat.S_IFREG) or os.path.realpath(source) == hidden:
        return
    if kind == stat.S_IFDIR:
        own = _entries(root, target)
        if own or _below(hidden, os.path.realpath(source)):
            yield from _merge(source, root, target, hidden=hidden)
        elif own is not None:
            yield Bind(source, target)
    elif not _is_there(root, target):
        yield Bind(source, target)


def _merge(source: str, root: int, target: str, *, hidden: str) -> Iterator[Bind]:
    _make_dir(root, target, like=source)
    for name in sorted(os.listdir(source)):
        entry, place = f"{source}/{name}", f"{target}/{name}"
        mode = os.lstat(entry).st_mode
        if stat.S_ISDIR(mode):
            yield from _bind(entry, root, place, hidden=hidden)
        elif not _is_there(root, place):
            _copy(entry, mode, root, place)


def _copy(entry: str, mode: int, root: int, place: str) -> None:
    """Copy a single file or link; sockets, pipes and devices are left out."""
    parent = _open_parent(root, place)
    if parent is None:
        return
    name = os.path.basename(place)
    try:
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(entry), name, dir_fd=parent)
        elif stat.S_ISREG(mode):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with (
                open(entry, "rb") as origin,
                open(os.open(name, flags, 0o600, dir_fd=parent), "wb") as copy,
            ):
                shutil.copyfileobj(origin, copy)
                facts = os.fstat(origin.fileno())
                os.fchown(copy.fileno(), facts.st_uid, facts.st_gid)
                os.fchmod(copy.fileno(), stat.S_IMODE(facts.st_mode))
    finally:
        os.close(parent)


def _mapped_dir(chroot_env: Mapping[str, str], target: str) -> str:
    """The host path that `target` would have, if it lies in a mapped directory; else empty."""
    for source, place in chroot_env.items():
        below = _below(target, place)
        if below:
            return f"{source.rstrip('/')}/{below}"
    return ""


def _make_mount_point(root: int, source: str, target: str) -> None:
    """Make a directory for a mount inside a mapped one, where the host has none."""
    if not os.path.lexists(source):
        _make_dir(root, target.strip("/"), like="/")


# --- the task's directory ---------------------------------------------------------------------------
# A task may have planted links in it when it ran before, so no path below it is followed through one.


def _open_parent(root: int, path: str) -> int | None:
    """A descriptor of the directory that holds `path`; None where there is no such directory."""
    here = os.dup(root)
    for part in path.split("/")[:-1]:
        try:
            below = os.open(part, _OPEN_DIR, dir_fd=here)
        except OSError:
            return None
        finally:
            os.close(here)
        here = below
    return here


def _is_there(root: int, path: str) -> bool:
    parent = _open_parent(root, path)
    if parent is None:
        return False
    try:
        os.lstat(os.path.basename(path), dir_fd=parent)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(parent)


def _entries(root: int, path: str) -> list[str] | None:
    """What the task has in a directory, nothing where it has none; None for something else at `path`."""
    parent = _open_parent(root, path)
    if parent is None:
        return []
    try:
        directory = os.open(os.path.basename(path), _OPEN_DIR, dir_fd=parent)
    except FileNotFoundError:
        return []
    except OSError:
        return None
    finally:
        os.close(parent)
    try:
        return os.listdir(directory)
    finally:
        os.close(directory)


def _make_dir(root: int, path: str, *, like: str) -> None:
    """Make a directory with all above it; a new last one gets the mode of the host's directory `like`."""
    here = os.dup(root)
    mode = stat.S_IMODE(os.stat(like).st_mode)
    try:
        parts = path.split("/")
        for number, part in enumerate(parts, start=1):
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, mode if number == len(parts) else 0o755, dir_fd=here)
            below = os.open(part, _OPEN_DIR, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)


def _below(path: str, directory: str) -> str:
    prefix = directory.rstrip("/") + "/"
    return path.removeprefix(prefix).strip("/") if path.startswith(prefix) else ""
