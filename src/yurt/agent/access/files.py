"""Listing, describing and reading files of an allocation."""

from __future__ import annotations

import mimetypes
import os
import stat
from pathlib import Path

from yurt.agent.access.confined import checked_path, open_below
from yurt.errors import YurtError
from yurt.model.times import time_text
from yurt.model.wire import Time, Wire

SNIFF_BYTES = 512
READ_BYTES_MAX = 64 * 1024 * 1024


class FileError(YurtError):
    """A file cannot be given; `is_missing` tells a file that is not there from other trouble."""

    def __init__(self, text: str, *, is_missing: bool = False) -> None:
        super().__init__(text)
        self.is_missing = is_missing


class AllocFileInfo(Wire, frozen=True, kw_only=True):
    """A file or directory of an allocation."""

    name: str
    is_dir: bool
    size: int
    file_mode: str
    mod_time: Time
    content_type: str


def list_files(root: str, path: str) -> list[AllocFileInfo]:
    """What a directory of an allocation holds, by name. Raises FileError, PathEscapes."""
    shown = _shown(root, path)
    try:
        descriptor = open_below(root, path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _file_error("open", shown, error) from error
    try:
        names = sorted(os.listdir(descriptor))
        infos = []
        for name in names:
            try:
                found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue  # gone since the listing
            infos.append(_info(name, found, ""))
        return infos
    finally:
        os.close(descriptor)


def stat_file(root: str, path: str) -> AllocFileInfo:
    """Describe a file of an allocation. Raises FileError, PathEscapes."""
    shown = _shown(root, path)
    try:
        descriptor = open_below(root, path, os.O_RDONLY)
    except OSError as error:
        raise _file_error("stat", shown, error) from error
    try:
        found = os.fstat(descriptor)
        name = Path(shown).name
        kind = "application/octet-stream"
        if stat.S_ISREG(found.st_mode):
            kind = content_type(name, os.pread(descriptor, SNIFF_BYTES, 0))
        return _info(name, found, kind)
    finally:
        os.close(descriptor)


def open_file(root: str, path: str) -> int:
    """Open a file of an allocation for reading; the caller closes it. Raises FileError, PathEscapes."""
    shown = _shown(root, path)
    try:
        descriptor = open_below(root, path, os.O_RDONLY)
    except OSError as error:
        raise _file_error("stat", shown, error) from error
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileError(f'file "{path}" is a directory')
    return descriptor


def content_type(name: str, head: bytes) -> str:
    """What a file holds, by its name or by its first bytes."""
    guessed, _ = mimetypes.guess_type(name)
    if guessed in ("application/json", "text/html", "text/css", "text/xml", "image/png", "image/jpeg"):
        return f"{guessed}; charset=utf-8" if guessed.startswith("text/") else guessed
    if head.lstrip()[:5].lower() in (b"<html", b"<!doc"):
        return "text/html; charset=utf-8"
    if any(byte < 9 or 14 <= byte < 27 for byte in head):
        return "application/octet-stream"
    return "text/plain; charset=utf-8"


def _shown(root: str, path: str) -> str:
    relative = checked_path(path)
    return root if relative == "." else f"{root}/{relative}"


def _info(name: str, found: os.stat_result, kind: str) -> AllocFileInfo:
    return AllocFileInfo(
        name=name,
        is_dir=stat.S_ISDIR(found.st_mode),
        size=found.st_size,
        file_mode=stat.filemode(found.st_mode),
        mod_time=time_text(found.st_mtime_ns),
        content_type=kind,
    )


def _file_error(verb: str, shown: str, error: OSError) -> FileError:
    text = (error.strerror or str(error)).lower()
    return FileError(f"{verb} {shown}: {text}", is_missing=isinstance(error, FileNotFoundError))
