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
    """A FIFO through which a task tells the test something; `path` is what it writes to."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        os.mkfifo(path)

    async def receive(self) -> str:
        """Wait for one message."""
        return (await asyncio.to_thread(Path(self.path).read_text)).strip()


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
