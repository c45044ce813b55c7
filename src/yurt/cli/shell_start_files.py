"""Completion in the start files of shells: adding it, and taking it away again."""

import os
from pathlib import Path
from typing import NamedTuple

from yurt.cli.errors import CommandError


class StartFile(NamedTuple):
    """Where a shell looks when it starts, below the home directory, and the line that loads completion.

    `needs` is what shows that the shell is used at all: its start file, or the directory it lies in.
    """

    path: str
    line: str
    needs: str


START_FILES = (
    StartFile(".bashrc", "source <(yurt completion bash)", ".bashrc"),
    StartFile(".zshrc", "source <(yurt completion zsh)", ".zshrc"),
    StartFile(".config/fish/completions/yurt.fish", "yurt completion fish | source", ".config/fish"),
)


def install_completion(home: Path) -> None:
    """Add completion for the shells that `home` has start files of. Raises `CommandError` if it is there."""
    used = [file for file in START_FILES if (home / file.needs).exists()]
    if not used:
        raise CommandError(
            f"Found no start files of bash, zsh or fish in {home}; "
            "'yurt completion -help' has the line to add to yours"
        )
    present = [home / file.path for file in used if file.line in _lines(home / file.path)]
    if present:
        raise CommandError(f"Completion is installed already in {', '.join(map(str, present))}")
    for file in used:
        _write(home / file.path, [*_lines(home / file.path), file.line])


def uninstall_completion(home: Path) -> None:
    """Take completion away from all start files. Raises `CommandError` if it is in none."""
    found = [file for file in START_FILES if file.line in _lines(home / file.path)]
    if not found:
        raise CommandError(f"Completion is not installed in the start files of {home}")
    for file in found:
        kept = [line for line in _lines(home / file.path) if line != file.line]
        is_ours_alone = file.path != file.needs and not kept
        if is_ours_alone:
            (home / file.path).unlink()
        else:
            _write(home / file.path, kept)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CommandError(f"Cannot read {path}: {os.strerror(error.errno or 0)}") from error


def _write(path: Path, lines: list[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise CommandError(f"Cannot write {path}: {os.strerror(error.errno or 0)}") from error
