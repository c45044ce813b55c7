"""Recorded command lines: reading them, and comparing with what we print.

The recordings are of Nomad, so texts are compared with the program's name replaced.
"""

import re
from pathlib import Path
from typing import NamedTuple

RECORDINGS = Path(__file__).parent.parent / "recordings" / "nomad" / "cli"


class Step(NamedTuple):
    """One command and what came back, or something done in between (`@ ...`)."""

    command: str
    options: tuple[str, ...]
    stdout: str
    stderr: str
    exit_code: int


class Transcript(NamedTuple):
    """A scenario: its input files and its steps."""

    files: dict[str, str]
    steps: tuple[Step, ...]

    def step(self, command: str, *, occurrence: int = 0) -> Step:
        """Find a command's step; `occurrence` counts equal commands."""
        return [step for step in self.steps if step.command == command][occurrence]


def read_transcript(name: str) -> Transcript:
    """Read the scenario `name`."""
    files: dict[str, str] = {}
    steps: list[Step] = []
    lines = (RECORDINGS / f"{name}.txt").read_text().splitlines()
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.startswith("=== file "):
            end = lines.index("=== end", position)
            files[line.removeprefix("=== file ")] = "\n".join(lines[position:end]) + "\n"
            position = end + 1
        elif line.startswith("@ "):
            steps.append(Step(line, (), "", "", 0))
        elif line.startswith("$ "):
            step, position = _read_step(lines, position, as_yurt(line.removeprefix("$ ")))
            steps.append(step)
    return Transcript(files, tuple(steps))


def _read_step(lines: list[str], position: int, command: str) -> tuple[Step, int]:
    options: list[str] = []
    streams = {"stdout": "", "stderr": "", "terminal": ""}
    while not lines[position].startswith("--- exit"):
        line = lines[position]
        position += 1
        if line.startswith("% "):
            options.append(line.removeprefix("% "))
        elif line.startswith("--- "):
            stream, _, note = line.removeprefix("--- ").partition(" ")
            end = position
            while not lines[end].startswith("--- "):
                end += 1
            text = "\n".join(lines[position:end])
            text = re.sub(r"<ESC(\[[0-9;]*m)>", "\033\\1", text)
            streams[stream] = as_yurt(text if note else text + "\n")
            position = end
    exit_code = int(lines[position].removeprefix("--- exit "))
    stdout = streams["stdout"] + streams["terminal"]
    return Step(command, tuple(options), stdout, streams["stderr"], exit_code), position + 1


def as_yurt(text: str) -> str:
    """Write a recorded text with our name, save for labels that programs look for."""
    text = re.sub(r"\bnomad(?= [a-z-])", "yurt", text)
    return re.sub(r"\bNomad (?=jobs|clients|servers|variables|agent|CLI)", "Yurt ", text)


def at(text: str) -> int:
    """A recorded time in nanoseconds."""
    from datetime import datetime  # noqa: PLC0415

    return int(datetime.fromisoformat(text).timestamp()) * 1_000_000_000
