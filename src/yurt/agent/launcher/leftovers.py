"""Ending what a task left running when its supervisor was killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from yurt.agent.launcher.daemon.command import SUPERVISOR_VARIABLE
from yurt.agent.launcher.pidfds import send_signal
from yurt.agent.launcher.record import Record

# Each round can only find what forked during the one before it.
ROUNDS_MAX = 50


def kill_leftovers(record: Record) -> None:
    """Kill the task's process and all others that carry its mark; blocks, so run it in a thread.

    A process that cleared its environment and outlived its parents is not found; under a live
    supervisor nothing escapes.
    """
    send_signal(record.pid, record.pid_ticks, signal.SIGKILL)
    pid, ticks = record.supervisor
    marker = f"\0{SUPERVISOR_VARIABLE}={pid}.{ticks}\0".encode()
    for _ in range(ROUNDS_MAX):
        if not _kill_marked(marker):
            return


def _kill_marked(marker: bytes) -> int:
    killed = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        if not _is_marked(entry.name, marker):
            continue
        try:
            fd = os.pidfd_open(int(entry.name))
        except ProcessLookupError:
            continue
        # Looked at again now that the fd holds it: the pid may have changed hands in between.
        if _is_marked(entry.name, marker):
            _kill(fd)
            killed += 1
        else:
            os.close(fd)
    return killed


def _is_marked(pid: str, marker: bytes) -> bool:
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # gone, a kernel thread, or another user's
        return False
    return marker in b"\0" + environ


def _kill(fd: int) -> None:
    try:
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(fd)
