"""Finds and reads the configuration files that the command line names."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from yurt.config.decode import Layer, decode
from yurt.config.problems import Location, Problem
from yurt.jobspec.hcl import HCLError, literal_body

SUFFIXES = (".hcl", ".json")
"""What a directory contributes; a file that is named itself may be called anything."""

FILES_MAX = 1000
FILE_BYTES_MAX = 4 * 1024 * 1024


class FilesRead(msgspec.Struct, frozen=True):
    """The files in the order in which they count, with what each says, and what could not be read."""

    files: tuple[str, ...]
    layers: tuple[Layer, ...]
    problems: tuple[Problem, ...]


def read_files(paths: Iterable[str]) -> FilesRead:
    """Read files, and the *.hcl and *.json files of directories in the order of their names."""
    files: list[str] = []
    layers: list[Layer] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            files += _files_at(Path(path))
        except OSError as error:
            problems.append(_unreadable(path, error))
    if len(files) > FILES_MAX:
        problems.append(
            Problem(text=f"{len(files)} configuration files are more than the {FILES_MAX} allowed")
        )
        files = []
    for file in files:
        try:
            layers.append(_read(file))
        except OSError as error:
            problems.append(_unreadable(file, error))
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            problems.append(Problem(text="not UTF-8 text; save it as UTF-8", location=Location(file, line)))
        except HCLError as error:
            problems += (
                Problem(
                    text=f"{found.summary}; {found.detail}",
                    location=Location(file, found.subject.start.line if found.subject else 0),
                )
                for found in error.diagnostics
            )
    return FilesRead(tuple(files), tuple(layers), tuple(problems))


def _files_at(path: Path) -> list[str]:
    if not path.is_dir():
        return [str(path)]
    # Editors leave hidden files and backups beside the real ones.
    return sorted(
        str(file)
        for file in path.iterdir()
        if file.suffix in SUFFIXES and not file.name.startswith((".", "#")) and file.is_file()
    )


def _read(file: str) -> Layer:
    with Path(file).open("rb") as stream:
        content = stream.read(FILE_BYTES_MAX + 1)
    if len(content) > FILE_BYTES_MAX:
        text = f"larger than the {FILE_BYTES_MAX} bytes that a configuration file may have"
        return Layer(problems=[Problem(text=text, location=Location(file))])
    return decode(literal_body(content.decode(), filename=file), file)


def _unreadable(path: str, error: OSError) -> Problem:
    text = f"cannot be read: {error.strerror or error}; check the path given with -config"
    return Problem(text=text, location=Location(path))
