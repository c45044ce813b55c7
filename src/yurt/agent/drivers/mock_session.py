"""How a pretended command behaves, and exec sessions with one."""

from __future__ import annotations

import asyncio

import msgspec

from yurt.agent.drivers.config_schema import Seconds
from yurt.agent.drivers.session import STDERR, STDOUT
from yurt.agent.launcher import ExitResult
from yurt.clock import Clock


class MockRun(msgspec.Struct, frozen=True, kw_only=True):
    """How a pretended command behaves."""

    run_for: Seconds = Seconds(0.0)
    exit_code: int = 0
    exit_signal: int = 0
    exit_err_msg: str = ""
    signal_error: str = ""
    stdout_string: str = ""
    stdout_repeat: int = 0
    stdout_repeat_duration: Seconds = Seconds(0.0)
    stderr_string: str = ""
    stderr_repeat: int = 0
    stderr_repeat_duration: Seconds = Seconds(0.0)


def script(run: MockRun) -> list[tuple[float, str, str]]:
    """What is said when: seconds after the start, stream, text."""
    lines = []
    for stream, text, repeat, every_s in (
        (STDOUT, run.stdout_string, run.stdout_repeat, run.stdout_repeat_duration),
        (STDERR, run.stderr_string, run.stderr_repeat, run.stderr_repeat_duration),
    ):
        # Nothing is said at the start, too: the stream's file is there from then on.
        lines.append((0.0, stream, text))
        if text:
            lines += [(number * every_s, stream, text) for number in range(1, repeat + 1)]
    return sorted(lines, key=lambda line: line[0])


class MockSession:
    """A `Session` that reads nothing and says what it was told to."""

    def __init__(self, clock: Clock, run: MockRun, *, tty: bool) -> None:
        self._clock = clock
        self._run = run
        self.streams: tuple[str, ...] = (STDOUT,) if tty else (STDOUT, STDERR)
        self._said: dict[str, asyncio.Queue[bytes]] = {name: asyncio.Queue() for name in self.streams}
        self._acting = asyncio.create_task(self._act(), name="mock-session")

    async def _act(self) -> None:
        now_s = 0.0
        for at_s, stream, text in script(self._run):
            if at_s <= self._run.run_for and text:
                await self._sleep(at_s - now_s)
                now_s = at_s
                self._said[stream if stream in self._said else STDOUT].put_nowait(text.encode())
        await self._sleep(self._run.run_for - now_s)
        for said in self._said.values():
            said.put_nowait(b"")

    async def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            await self._clock.sleep(seconds)

    async def read(self, stream: str) -> bytes:
        return await self._said[stream].get()

    async def write(self, data: bytes) -> None:
        """Nobody reads it."""

    async def close_input(self) -> None:
        """Nobody reads it."""

    async def resize(self, *, height: int, width: int) -> None:
        """Nobody draws on it."""

    async def wait(self) -> ExitResult:
        await asyncio.shield(self._acting)
        run = self._run
        return ExitResult(exit_code=run.exit_code, signal=run.exit_signal, error=run.exit_err_msg)

    async def close(self) -> None:
        self._acting.cancel()
