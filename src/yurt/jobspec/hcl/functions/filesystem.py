"""Functions that look at files, for where files may be looked at."""

import base64
import glob
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from yurt.jobspec.hcl.function import CallError, Parameter, Registry
from yurt.jobspec.hcl.limits import COLLECTION_ITEMS_MAX, STRING_CHARACTERS_MAX
from yurt.jobspec.hcl.values import STRING, SetValue, set_of

_PATH = Parameter("path", STRING)


def filesystem_functions(base: Path | None) -> Registry:
    """The functions on files. Relative paths start at `base`; without a base every call fails."""
    functions = Registry()
    files = _Files(base or Path())

    def add(name: str, implementation: Callable[..., Any], *parameters: Parameter) -> None:
        functions.add(name, *parameters)(_disabled if base is None else implementation)

    add("file", files.text, _PATH)
    add("filebase64", files.base64, _PATH)
    add("fileexists", files.exists, _PATH)
    add("fileset", files.matching, _PATH, Parameter("pattern", STRING))
    add("abspath", files.absolute, _PATH)
    add("basename", os.path.basename, _PATH)
    add("dirname", _dirname, _PATH)
    add("pathexpand", _expanded, _PATH)
    return functions


def _disabled(*_: object) -> str:
    raise CallError("filesystem function disabled")


def _dirname(path: str) -> str:
    return os.path.dirname(path) or "."


def _expanded(path: str) -> str:
    return os.path.expanduser(path) if path in ("~",) or path.startswith("~/") else path


class _Files:
    def __init__(self, base: Path) -> None:
        self._base = base

    def text(self, path: str) -> str:
        try:
            return self._read(path).decode()
        except UnicodeDecodeError:
            raise CallError(
                f"contents of {path} are not valid UTF-8; use the filebase64 function to obtain the Base64 "
                "encoded contents"
            ) from None

    def base64(self, path: str) -> str:
        return base64.b64encode(self._read(path)).decode()

    def exists(self, path: str) -> bool:
        found = self._base / _expanded(path)
        if found.is_dir():
            raise CallError(f"{path} is a directory, not a file")
        return found.is_file()

    def matching(self, folder: str, pattern: str) -> SetValue:
        root = self._base / _expanded(folder)
        names: list[str] = []
        for name in glob.iglob(pattern, root_dir=root, recursive=True):
            if (root / name).is_file():
                names.append(name.replace(os.sep, "/"))
            if len(names) > COLLECTION_ITEMS_MAX:
                raise CallError(f"more than {COLLECTION_ITEMS_MAX} files match")
        return set_of(tuple(names), STRING)

    def absolute(self, path: str) -> str:
        return os.path.abspath(self._base / path)

    def _read(self, path: str) -> bytes:
        found = self._base / _expanded(path)
        try:
            with found.open("rb") as file:
                data = file.read(STRING_CHARACTERS_MAX + 1)
        except FileNotFoundError:
            raise CallError(f"no file exists at {path}") from None
        except (OSError, ValueError) as error:
            raise CallError(f"failed to read {path}: {error}") from None
        if len(data) > STRING_CHARACTERS_MAX:
            raise CallError(f"{path} is larger than {STRING_CHARACTERS_MAX} bytes")
        return data
