"""Running commands in the test's own process."""

import io
import os
import re
import shlex
import sys
import time
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from tests.cli.transcripts import Step
from tests.sdk.replay_server import ReplayServer
from yurt.cli.main import main


class Result(NamedTuple):
    """What a command printed, and its exit code."""

    exit_code: int
    stdout: str
    stderr: str


class CommandLine:
    """Runs `yurt` against a server, on pipes or on a pretended terminal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, server: ReplayServer) -> None:
        self._monkeypatch = monkeypatch
        self.server = server
        for name in [name for name in os.environ if name.startswith(("YURT_", "NOMAD_"))]:
            monkeypatch.delenv(name)
        monkeypatch.delenv("NO_COLOR", raising=False)
        # Nobody else's saved clusters.
        monkeypatch.setenv("XDG_CONFIG_HOME", os.devnull)
        monkeypatch.setenv("NOMAD_ADDR", server.address)
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()
        self.slept: list[float] = []

    def set_time(self, now_ns: int) -> None:
        """Stop the clock."""
        self._monkeypatch.setattr(time, "time_ns", lambda: now_ns)
        self._monkeypatch.setattr(time, "sleep", self.slept.append)

    def __call__(self, command: str, *, stdin: str = "", is_terminal: bool = False) -> Result:
        """Run a command line that starts with `yurt`, perhaps after variables."""
        words = shlex.split(command)
        program = words.index("yurt")
        stdout, stderr = _Stream(is_terminal=is_terminal), _Stream(is_terminal=is_terminal)
        with self._monkeypatch.context() as patched:
            for assignment in words[:program]:
                name, _, value = assignment.partition("=")
                patched.setenv(name, value)
            patched.setattr(sys, "stdout", stdout)
            patched.setattr(sys, "stderr", stderr)
            patched.setattr(sys, "stdin", io.StringIO(stdin))
            exit_code = main(words[program + 1 :])
        return Result(exit_code, stdout.text(), stderr.text())


def same(yurt: CommandLine, step: Step, variables: Mapping[str, str] | None = None) -> None:
    """Run a recorded command and compare everything; `variables` stand for `$A` and `${A:8}` in it."""
    command = substitute(step.command, variables or {})
    stdin = next((option for option in step.options if option.startswith("stdin ")), "stdin ")
    result = yurt(command, stdin=stdin.removeprefix("stdin ").replace("\\n", "\n"))
    expected_stderr = step.stderr.replace("http://127.0.0.1:4646", yurt.server.address)
    assert result.stdout == step.stdout, result.stderr
    assert result.stderr == expected_stderr
    assert result.exit_code == step.exit_code


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """Replace `$A` by a value and `${A:8}` by its first eight characters."""

    def value(match: re.Match[str]) -> str:
        name, length = match[1] or match[2], match[3]
        return variables[name][: int(length)] if length else variables[name]

    names = "|".join(variables)
    return re.sub(rf"\$(?:({names})\b|\{{({names}):(\d+)\}})", value, text) if variables else text


class _Stream(io.TextIOWrapper):
    """A text stream over memory that can pretend to be a terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, encoding="utf-8", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def text(self) -> str:
        self.flush()
        return self._bytes.getvalue().decode()
