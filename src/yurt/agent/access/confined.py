"""Opening files below a directory, with no way out of it."""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import stat
from collections.abc import Iterator

from yurt.errors import YurtError

LINKS_MAX = 40
TEMPORARY_SUFFIX = ".yurt-new"
# File names have at most 255 bytes, and characters up to four.
NAME_CHARS_KEPT = 50


class PathEscapes(YurtError):
    """The path leads out of the allocation's directory."""

    def __init__(self) -> None:
        super().__init__("Path escapes the alloc directory")


def checked_path(path: str) -> str:
    """A path relative to the root, cleaned. Raises PathEscapes if it points above the root."""
    relative = posixpath.normpath(path.lstrip("/") or ".")
    if relative == ".." or relative.startswith("../") or "\0" in path:
        raise PathEscapes
    return relative


def open_below(root: str, path: str, flags: int) -> int:
    """Open `path` below `root`. Raises PathEscapes, or OSError as `open` does.

    Each part is opened by its parent's descriptor without following links, and links are followed by
    hand from the root: a task that swaps a directory for a link while we look cannot lead us out.
    """
    with _walk(root, path) as (parent, name):
        if not name:
            return os.open(".", flags | os.O_CLOEXEC, dir_fd=parent)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)


def open_dir_below(root: str, path: str, *, make_mode: int | None = None) -> int:
    """Open a directory, making what is missing of it with `make_mode`. Raises like `open_below`."""
    with _walk(root, path, make_mode=make_mode, makes_last=make_mode is not None) as (parent, name):
        return os.open(
            name or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent
        )


def read_below(root: str, path: str, *, bytes_max: int) -> bytes:
    """The content of a regular file. Raises PathEscapes, or OSError: EFBIG for one that is too large."""
    with os.fdopen(open_below(root, path, os.O_RDONLY), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return content


def write_below(
    root: str, path: str, content: bytes, *, mode: int, uid: int = -1, gid: int = -1, dir_mode: int = 0o755
) -> None:
    """Put a file in place at once, with its parents. Raises PathEscapes, or OSError.

    A link at `path` is replaced, not followed. An owner of -1 is the agent's own.
    """
    directory, _, name = checked_path(path).rpartition("/")
    parent = open_dir_below(root, directory or ".", make_mode=dir_mode)
    temporary = f".{name[:NAME_CHARS_KEPT]}{TEMPORARY_SUFFIX}"
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=parent), "wb") as file:
            file.write(content)
            if (uid, gid) != (-1, -1):
                os.fchown(file.fileno(), uid, gid)
            # After the owner, whose change takes set-id bits away.
            os.fchmod(file.fileno(), mode)
        os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=parent)
        raise
    finally:
        os.close(parent)


@contextlib.contextmanager
def _walk(
    root: str, path: str, *, make_mode: int | None = None, makes_last: bool = False
) -> Iterator[tuple[int, str]]:
    """Give the descriptor of the directory that holds `path`, and its name there; empty for the root.

    What is missing on the way is made with `make_mode`, the last part only if `makes_last`.
    """
    parts = [part for part in checked_path(path).split("/") if part != "."]
    links = 0
    trail = [os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)]
    try:
        while parts:
            name = parts.pop(0)
            if name == "..":
                if len(trail) == 1:
                    raise PathEscapes
                os.close(trail.pop())
                continue
            if make_mode is not None and (parts or makes_last):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, make_mode, dir_fd=trail[-1])
            entry = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=trail[-1])
            mode = os.fstat(entry).st_mode
            if stat.S_ISLNK(mode):
                links += 1
                target = _link_target(entry)
                if links > LINKS_MAX:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                if target.startswith("/"):
                    raise PathEscapes
                parts = [part for part in target.split("/") if part not in ("", ".")] + parts
                continue
            if not parts:
                os.close(entry)
                yield trail[-1], name
                return
            if not stat.S_ISDIR(mode):
                os.close(entry)
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            trail.append(entry)
        yield trail[-1], ""
    finally:
        for descriptor in trail:
            os.close(descriptor)


def _link_target(entry: int) -> str:
    try:
        return os.readlink("", dir_fd=entry)
    finally:
        os.close(entry)
