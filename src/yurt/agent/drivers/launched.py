"""Handles of tasks that run under the launcher, for every driver that starts processes."""

from __future__ import annotations

import asyncio
import errno
from typing import ClassVar

import msgspec

from yurt.agent.drivers.driver import DriverError, DriverNetwork, TaskSpec
from yurt.agent.drivers.signals import signal_number
from yurt.agent.drivers.usage import ProcessMeter
from yurt.agent.launcher import (
    ExitResult,
    LauncherClient,
    LauncherUnavailable,
    LaunchFailed,
    LaunchSpec,
    LogLimits,
    RunningTask,
    TaskKey,
    TaskLost,
)
from yurt.model.resource_usage import TaskResourceUsage

_MIB = 1 << 20
# The machine is short of something; nothing is wrong with the task.
_PASSING = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOSPC}


def task_key(spec: TaskSpec) -> TaskKey:
    """The launcher's name of this start."""
    return TaskKey(spec.alloc_id, spec.task, spec.attempt)


def log_limits(spec: TaskSpec) -> LogLimits | None:
    """Where the task's output goes; None to throw it away."""
    if not spec.log_dir:
        return None
    return LogLimits(
        directory=spec.log_dir, files_max=spec.log_files_max, file_bytes_max=spec.log_file_mb_max * _MIB
    )


def launch_error(reason: str, *, recoverable: bool = False) -> DriverError:
    """A start that failed, in the words that clients know from Nomad, down to a protocol not spoken here."""
    text = f"failed to launch command with executor: rpc error: code = Unknown desc = {reason}"
    return DriverError(text, recoverable=recoverable)


async def launch(launcher: LauncherClient, launch_spec: LaunchSpec) -> RunningTask:
    """Start a command. Raises DriverError; LaunchFailed is its cause when the command itself was at fault."""
    try:
        return await launcher.start(launch_spec)
    except LaunchFailed as error:
        recoverable = error.errno in _PASSING
        raise launch_error(failure_reason(error, launch_spec.path), recoverable=recoverable) from error
    except (LauncherUnavailable, TaskLost) as error:
        raise launch_error(str(error), recoverable=True) from error
    except ValueError as error:
        raise launch_error(str(error)) from error


def failure_reason(error: LaunchFailed, path: str) -> str:
    """Why a command could not be started, as Go would tell it."""
    reason = error.reason[:1].lower() + error.reason[1:]
    return f"fork/exec {path}: {reason}" if error.step == "exec" else f"{error.step}: {reason}"


class LaunchedTask:
    """A `TaskHandle` of a process."""

    network: DriverNetwork | None = None
    # Whether its control groups are its own, and tell what it uses.
    has_groups: ClassVar[bool] = False

    def __init__(self, launcher: LauncherClient, task: RunningTask) -> None:
        self._launcher = launcher
        self._meter = ProcessMeter(task.pid, task.started_ns, in_groups=self.has_groups)
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

    async def usage(self) -> TaskResourceUsage | None:
        """What its processes use; None when there are none."""
        return await asyncio.to_thread(self._meter.measure)

    async def destroy(self) -> None:
        if self._task.is_running:
            await self._task.kill_now()
        self._launcher.forget(self._task.key)


async def recover_launched(launcher: LauncherClient, state: bytes) -> LaunchedTask | None:
    """The task of a LaunchedTask's `state`; None when it is lost."""
    task = await find_launched(launcher, state)
    return LaunchedTask(launcher, task) if task else None


async def find_launched(launcher: LauncherClient, state: bytes) -> RunningTask | None:
    """The process of a LaunchedTask's `state`; None when it is lost, and its records are then dropped.

    A state that cannot be read, written by another version perhaps, is a lost task, too.
    """
    key = decode_state(state)
    if key is None:
        return None
    task = await launcher.attach(key)
    if task is None:
        launcher.forget(key)
    return task


def decode_state(state: bytes) -> TaskKey | None:
    """The key in a LaunchedTask's `state`."""
    try:
        return msgspec.msgpack.decode(state, type=TaskKey)
    except msgspec.DecodeError:
        return None
