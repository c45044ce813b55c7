"""Real processes for tests, and ways to wait for what they do."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Callable
from pathlib import Path

from yurt.agent.launcher import LaunchSpec, LogLimits, TaskKey

ENV = {"PATH": os.environ["PATH"]}
WAIT_MS_MAX = 60_000

ShellTask = Callable[..., LaunchSpec]


def shell_task(logs: Path, script: str, *, task: str = "t", attempt: int = 0, **env: str) -> LaunchSpec:
    """The spec of a task that runs a shell script."""
    return LaunchSpec(
        key=TaskKey("alloc", task, attempt),
        path="/bin/sh",
        argv=("sh", "-c", script),
        env=ENV | env,
        logs=LogLimits(directory=str(logs), files_max=3, file_bytes_max=1 << 20),
    )


class Mailbox:
    """A line from a task to the test; `path` is what the task writes to."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        os.mkfifo(path)
        # Open at both ends for as long as the test, so that neither side waits for the other to open.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    async def receive(self) -> str:
        """Wait for one line."""
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        loop.add_reader(self._fd, arrived.set)
        try:
            async with asyncio.timeout(WAIT_MS_MAX / 1000):
                await arrived.wait()
        finally:
            loop.remove_reader(self._fd)
        line = os.read(self._fd, 4096).decode()
        assert line.endswith("\n"), "a task writes its line at once"
        return line.strip()

    def close(self) -> None:
        os.close(self._fd)


class Gate(Mailbox):
    """The other way: a task that does `read go < path` waits until the test opens the gate."""

    def open(self) -> None:
        os.write(self._fd, b"go\n")


def wait_gone(pid: int) -> None:
    """Wait until the process has ended, whoever has yet to reap it."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        assert poll.poll(WAIT_MS_MAX), f"process {pid} still runs"
    finally:
        os.close(fd)
