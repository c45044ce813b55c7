"""One task under its supervisor, as the agent holds it."""

from __future__ import annotations

import asyncio
import os
import signal

from yurt.agent.launcher.daemon.processes import KILL_LIMIT_S
from yurt.agent.launcher.daemon.supervisor import DRAIN_LIMIT_S, KILL_SIGNAL
from yurt.agent.launcher.leftovers import kill_leftovers
from yurt.agent.launcher.pidfds import send_signal
from yurt.agent.launcher.record import Record, load
from yurt.agent.launcher.spec import ExitResult

# A supervisor that has not finished killing by then is itself stuck, or stopped.
SUPERVISOR_LIMIT_S = KILL_LIMIT_S + DRAIN_LIMIT_S + 3.0


class RunningTask:
    """A started task. It goes on when this object is dropped; `wait` serves any number of callers.

    `supervisor` is its supervisor's pidfd, which this object owns; None for one that has ended.
    """

    def __init__(self, record: Record, path: str, supervisor: int | None) -> None:
        self.key = record.key
        self.pid = record.pid
        self.started_ns = record.started_ns
        self._record = record
        self._path = path
        self._supervisor = supervisor
        self._gone = asyncio.Event()
        self._settling = asyncio.Lock()
        self._result: ExitResult | None = None
        self._loop = asyncio.get_running_loop()
        if supervisor is None:
            self._gone.set()
        else:
            self._loop.add_reader(supervisor, self._end)

    @property
    def is_running(self) -> bool:
        return not self._gone.is_set()

    async def wait(self) -> ExitResult:
        """Wait for the end of the whole process tree.

        When the supervisor was killed, what it left of the task is killed as well, and the result says
        so in `error`.
        """
        await self._gone.wait()
        async with self._settling:
            if self._result is None:
                record = load(self._path)
                self._result = record.exit if record and record.exit else await self._settle_lost()
        return self._result

    async def _settle_lost(self) -> ExitResult:
        await asyncio.to_thread(kill_leftovers, self._record)
        error = "the task's supervisor was killed, and the task with it; its exit code is unknown"
        return ExitResult(exit_code=128 + signal.SIGKILL, signal=signal.SIGKILL, error=error)

    def signal(self, number: int) -> bool:
        """Send a signal to the task's process; False when it has ended."""
        if send_signal(self._record.pid, self._record.pid_ticks, number):
            return True
        # The record may be from before a starter handed over to the task.
        latest = load(self._path)
        return latest is not None and send_signal(latest.pid, latest.pid_ticks, number)

    async def kill(self, number: int, *, grace_s: float) -> ExitResult:
        """Ask the task's process to end, and kill the whole tree when `grace_s` has passed."""
        self.signal(number)
        try:
            async with asyncio.timeout(grace_s):
                return await self.wait()
        except TimeoutError:
            return await self.kill_now()

    async def kill_now(self) -> ExitResult:
        """Kill the whole tree at once."""
        send_signal(*self._record.supervisor, KILL_SIGNAL)
        try:
            async with asyncio.timeout(SUPERVISOR_LIMIT_S):
                return await self.wait()
        except TimeoutError:
            send_signal(*self._record.supervisor, signal.SIGKILL)
            return await self.wait()

    def _end(self) -> None:
        self.close()
        self._gone.set()

    def close(self) -> None:
        """Stop watching the supervisor and leave the task alone; a `wait` under way never returns."""
        if self._supervisor is not None:
            self._loop.remove_reader(self._supervisor)
            os.close(self._supervisor)
            self._supervisor = None
