"""What an exec session is: a command that runs beside a task, with its streams open to somebody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

from yurt.agent.launcher import ExitResult

STDOUT, STDERR = "stdout", "stderr"
# What programs on a terminal are told to draw for, unless the task says otherwise.
TERMINAL_KIND = "xterm"


class SessionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A command to run in the world of a task; `env` is the task's environment as it is now."""

    argv: tuple[str, ...]
    tty: bool
    env: Mapping[str, str]
    task_dir: str


class Session(Protocol):
    """A command with its streams. Use it from one task at a time, and `close` it in the end."""

    @property
    def streams(self) -> tuple[str, ...]:
        """What can be read: STDOUT and STDERR, or STDOUT alone, which carries all, of a terminal."""

    async def read(self, stream: str) -> bytes:
        """Wait for output; empty at its end."""

    async def write(self, data: bytes) -> None:
        """Give the command something to read; what it no longer reads is dropped."""

    async def close_input(self) -> None:
        """Let the command find the end of its input."""

    async def resize(self, *, height: int, width: int) -> None:
        """Change the size of its terminal; without one nothing happens."""

    async def wait(self) -> ExitResult:
        """Wait for its end. An `error` says why it could not be run at all."""

    async def close(self) -> None:
        """End the command if it still runs, and let go of its streams."""


@runtime_checkable
class OpensSessions(Protocol):
    """A task handle whose driver can run commands with open streams inside the task."""

    async def open_session(self, request: SessionRequest) -> Session:
        """Start a command. Raises DriverError."""


def session_env(request: SessionRequest, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a session's command, in a task whose own is `env`."""
    return {"TERM": TERMINAL_KIND, **env} if request.tty else dict(env)
