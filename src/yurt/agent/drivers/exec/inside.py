"""Commands run inside a container that runs already."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from yurt.agent.drivers.driver import DriverError
from yurt.agent.drivers.exec.runtime import Bundle, Runtime
from yurt.agent.drivers.launched import launch
from yurt.agent.launcher import Cgroups, LauncherClient, LaunchSpec, TaskKey


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """How a container was started, so that others can enter it in the same way; kept in its bundle."""

    runtime: Runtime
    manages_cgroups: bool
    join: tuple[str, ...]
    hidden: tuple[str, ...]

    def save(self, bundle: Bundle) -> None:
        Path(bundle.path, "entry").write_bytes(msgspec.json.encode(self))


async def run_inside(
    launcher: LauncherClient, key: TaskKey, bundle: Bundle, argv: Sequence[str], *, timeout_s: float
) -> int:
    """Run a command in the container of `key` with the task's user, environment and limits.

    Returns its exit code. Raises DriverError, also when it is not done in time; it is then killed.
    """
    attempt = time.time_ns()
    entered = f"{bundle.path}/entered.{attempt}"
    entry = await asyncio.to_thread(prepare_entry, bundle, argv, entered)
    command_key = TaskKey(key.alloc_id, f"{key.task}.command", attempt)
    argv_of_runtime = bundle.exec_arguments(
        entry.runtime, key.record, entered, manages_cgroups=entry.manages_cgroups
    )
    task = await launch(launcher, entry_spec(command_key, bundle, entry, argv_of_runtime))
    try:
        async with asyncio.timeout(timeout_s):
            return (await task.wait()).exit_code
    except TimeoutError:
        raise DriverError(f"{argv[0]} was not done within {timeout_s:g} s") from None
    finally:
        # It is a child of the container's, so ending the runtime that sent it there would not do.
        await asyncio.to_thread(end_entered, entered)
        await task.kill_now()
        launcher.forget(task.key)


def entry_spec(key: TaskKey, bundle: Bundle, entry: Entry, argv: tuple[str, ...]) -> LaunchSpec:
    """How the runtime is started that enters a container."""
    return LaunchSpec(
        key=key,
        path=entry.runtime.path,
        argv=argv,
        env={"PATH": os.environ.get("PATH", os.defpath)},
        cwd=bundle.path,
        hidden_mounts=entry.hidden,
        cgroups=Cgroups(join=entry.join),
    )


def prepare_entry(bundle: Bundle, argv: Sequence[str], entered: str, *, tty: bool = False) -> Entry:
    """Describe the process, and tell how to enter; raises DriverError when the container is gone. Blocks."""
    try:
        entry = msgspec.json.decode(Path(bundle.path, "entry").read_bytes(), type=Entry)
        bundle.describe_process(argv, f"{entered}.json", tty=tty)
    except (OSError, msgspec.DecodeError) as error:
        raise DriverError(f"the task's container cannot be entered: {error}") from error
    return entry


def end_entered(entered: str) -> None:
    """End the process whose pid is in a file, and remove the files about it. Blocks."""
    with contextlib.suppress(FileNotFoundError, ValueError, ProcessLookupError):
        os.kill(int(Path(entered).read_text()), signal.SIGKILL)
    for path in (entered, f"{entered}.json", f"{entered}.log"):
        Path(path).unlink(missing_ok=True)
