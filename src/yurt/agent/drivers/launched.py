"""Handles of tasks that run under the launcher, for every driver that starts processes."""

from __future__ import annotations

import msgspec

from yurt.agent.drivers.driver import DriverNetwork
from yurt.agent.drivers.signals import signal_number
from yurt.agent.launcher import ExitResult, LauncherClient, RunningTask, TaskKey


class LaunchedTask:
    """A `TaskHandle` of a process."""

    network: DriverNetwork | None = None

    def __init__(self, launcher: LauncherClient, task: RunningTask) -> None:
        self._launcher = launcher
        self._task = task
        self.state = msgspec.msgpack.encode(task.key)

    @property
    def pid(self) -> int:
        return self._task.pid

    async def wait(self) -> ExitResult:
        return await self._task.wait()

    async def kill(self, signal: str, timeout_s: float) -> ExitResult:
        return await self._task.kill(signal_number(signal), grace_s=timeout_s)

    async def signal(self, signal: str) -> None:
        self._task.signal(signal_number(signal))

    async def destroy(self) -> None:
        if self._task.is_running:
            await self._task.kill_now()
        self._launcher.forget(self._task.key)


async def recover_launched(launcher: LauncherClient, state: bytes) -> LaunchedTask | None:
    """The task of a LaunchedTask's `state`; None when it is lost, and its records are then dropped.

    A state that cannot be read, written by another version perhaps, is a lost task, too.
    """
    try:
        key = msgspec.msgpack.decode(state, type=TaskKey)
    except msgspec.DecodeError:
        return None
    task = await launcher.attach(key)
    if task is None:
        launcher.forget(key)
        return None
    return LaunchedTask(launcher, task)
