"""Put what was fetched where the task will find it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from yurt.agent.access.confined import checked_path, open_dir_below
from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.unpacking import check_links
from yurt.agent.launcher import Identity
from yurt.agent.task_paths import Place

DIR_MODE = 0o755


def inspect(tree: str) -> None:
    """Refuse a tree with links that lead out of it, or with what is neither file, directory nor link.

    Blocks. Raises FetchFailed.
    """
    links: dict[str, str] = {}
    for path, entry in _entries(tree, ""):
        if entry.is_symlink():
            links[path] = os.readlink(entry.path)
        elif not (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
            raise FetchFailed(f"{path!r} is neither file, directory nor link")
    check_links(links)


def single_file(tree: str) -> str:
    """The only file below `tree`. Blocks. Raises FetchFailed when there are more, or none."""
    files = [entry.path for _, entry in _entries(tree, "") if entry.is_file(follow_symlinks=False)]
    if len(files) != 1:
        raise FetchFailed(f"mode file needs a single file, and the archive holds {len(files)}")
    return files[0]


def place_file(file: str, place: Place, *, owner: Identity | None) -> None:
    """Move a file to `place`, with its parents. Blocks. Raises FetchFailed, PathEscapes and OSError."""
    directory, _, name = checked_path(place.path).rpartition("/")
    if name in ("", "."):
        raise FetchFailed(f"destination {place.full} is a directory; mode file needs the path of a file")
    _make_plain(file)
    _give(file, owner)
    parent = open_dir_below(place.root, directory or ".", make_mode=DIR_MODE)
    try:
        os.rename(file, name, dst_dir_fd=parent)
    finally:
        os.close(parent)


def place_tree(tree: str, place: Place, *, owner: Identity | None) -> None:
    """Move all that is below `tree` to the directory `place`, over what is there.

    Blocks. Raises PathEscapes and OSError.
    """
    target = open_dir_below(place.root, place.path, make_mode=DIR_MODE)
    try:
        if owner is not None:
            os.fchown(target, owner.uid, owner.gid)
    finally:
        os.close(target)
    for path, entry in _entries(tree, ""):
        if entry.is_dir(follow_symlinks=False):
            made = open_dir_below(place.root, f"{place.path}/{path}", make_mode=DIR_MODE)
            try:
                os.fchmod(made, entry.stat(follow_symlinks=False).st_mode & 0o777)
                if owner is not None:
                    os.fchown(made, owner.uid, owner.gid)
            finally:
                os.close(made)
            continue
        if not entry.is_symlink():
            _make_plain(entry.path)
        _give(entry.path, owner)
        directory, _, name = f"{place.path}/{path}".rpartition("/")
        parent = open_dir_below(place.root, directory, make_mode=DIR_MODE)
        try:
            os.rename(entry.path, name, dst_dir_fd=parent)
        finally:
            os.close(parent)


def _entries(tree: str, below: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """All entries of a tree with their paths in it, directories before what they hold."""
    with os.scandir(f"{tree}/{below}") as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        yield path, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(tree, path)


def _make_plain(path: str) -> None:
    """Take set-id bits away; the agent's umask does not count."""
    os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) & 0o777)


def _give(path: str, owner: Identity | None) -> None:
    if owner is not None:
        os.chown(path, owner.uid, owner.gid, follow_symlinks=False)
