"""Commands that are run beside a task, in its world."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from yurt.agent.drivers import DriverError, FsIsolation, TaskHandle
from yurt.agent.drivers.commands import find_command
from yurt.agent.drivers.users import find_user
from yurt.agent.launcher import Identity
from yurt.agent.network.namespaces import run_in_namespace
from yurt.agent.task_runner.hook import TaskContext

# A command that a signal ended has this exit code, less the signal's negative number.
SIGNAL_EXIT_CODE = 128


class CommandFailed(DriverError):
    """A command could not be run, or was not done in time."""


@runtime_checkable
class RunsCommands(Protocol):
    """A task handle whose driver can run commands inside the task."""

    async def run_command(self, command: str, args: Sequence[str], *, timeout_s: float) -> int:
        """Run a command to its end; returns its exit code. Raises DriverError."""


async def run_in_task(
    context: TaskContext, handle: TaskHandle, command: str, args: Sequence[str], *, timeout_s: float
) -> int:
    """Run a command in the world of a running task; returns its exit code. Raises DriverError.

    Where a task sees the machine as it is, so does the command: the agent starts it itself.
    """
    if isinstance(handle, RunsCommands):
        return await handle.run_command(command, args, timeout_s=timeout_s)
    if context.driver.capabilities.fs_isolation is not FsIsolation.NONE:
        raise CommandFailed(f'driver "{context.driver.name}" cannot run commands in its tasks')
    env = context.env().variables
    path = find_command(
        command, task_dir=context.dir.path, paths=(env.get("PATH", ""), os.environ.get("PATH", ""))
    )
    return await _run(path or command, args, env=env, context=context, timeout_s=timeout_s)


async def _run(
    path: str, args: Sequence[str], *, env: Mapping[str, str], context: TaskContext, timeout_s: float
) -> int:
    identity = await asyncio.to_thread(find_user, context.task.user) if context.task.user else None
    start = partial(_start, [path, *args], env=env, directory=context.dir.path, identity=identity)
    namespace = context.network.namespace if context.network is not None else ""
    process = await asyncio.to_thread(run_in_namespace, namespace, start) if namespace else start()
    ended = asyncio.ensure_future(asyncio.to_thread(process.wait))
    try:
        if await context.node.sleep_until_done(timeout_s, ended):
            raise CommandFailed(f"{path} was not done within {timeout_s:g} s")
        code = ended.result()
        return code if code >= 0 else SIGNAL_EXIT_CODE - code
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.wait((ended,))


def _start(
    command: Sequence[str], *, env: Mapping[str, str], directory: str, identity: Identity | None
) -> subprocess.Popen[bytes]:
    """Start a command. The event loop's own way cannot do that as another user."""
    try:
        return subprocess.Popen(  # noqa: S603 - the job names it, and could run it as its task
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=directory,
            env=dict(env),
            start_new_session=True,
            user=identity.uid if identity else None,
            group=identity.gid if identity else None,
            extra_groups=identity.groups if identity else None,
        )
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise CommandFailed(
            f"rpc error: code = Unknown desc = fork/exec {command[0]}: {reason[:1].lower()}{reason[1:]}"
        ) from error
