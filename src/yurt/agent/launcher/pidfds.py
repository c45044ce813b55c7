"""Processes held by pidfd, so that a reused pid is never waited for nor signalled."""

from __future__ import annotations

import asyncio
import os
import select
import signal

from yurt.agent.launcher.daemon.processes import start_ticks


def open_process(pid: int, ticks: int) -> int | None:
    """A pidfd of the process with this pid and start time; None when it has ended, reaped or not."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    # Asked after the fd is open: a match now means that the fd is of that very process.
    if start_ticks(pid) != ticks or _has_ended(fd):
        os.close(fd)
        return None
    return fd


def _has_ended(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


async def wait_for_end(fd: int) -> None:
    """Wait until the process of a pidfd ended."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(fd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(fd)


def send_signal(pid: int, ticks: int, number: int) -> bool:
    """Signal the process with this pid and start time; False when it is gone."""
    fd = open_process(pid, ticks)
    if fd is None:
        return False
    try:
        signal.pidfd_send_signal(fd, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)
    return True
