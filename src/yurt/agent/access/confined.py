"""Opening files below a directory, with no way out of it."""

from __future__ import annotations

import errno
import os
import posixpath
import stat

from yurt.errors import YurtError

LINKS_MAX = 40


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
                return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=trail[-1])
            if not stat.S_ISDIR(mode):
                os.close(entry)
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            trail.append(entry)
        return os.open(".", flags | os.O_CLOEXEC, dir_fd=trail[-1])
    finally:
        for descriptor in trail:
            os.close(descriptor)


def _link_target(entry: int) -> str:
    try:
        return os.readlink("", dir_fd=entry)
    finally:
        os.close(entry)
