"""Ending what a task left running when its supervisor was killed."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from yurt.agent.launcher.daemon.command import SUPERVISOR_VARIABLE
from yurt.agent.launcher.pidfds import send_signal
from yurt.agent.launcher.record import Record

# Each round can only find what forked during the one before it.
ROUNDS_MAX = 50
# A killed process leaves its group only when it is gone; one that hangs in the kernel is not waited for.
END_LIMIT_MS = 1000


def kill_leftovers(record: Record) -> None:
    """Kill the task's process, all others that carry its mark, and its control groups with all in them.

    Blocks, so run it in a thread. A task without groups may leave a process that cleared its environment
    and outlived its parents, which is not found; under a live supervisor nothing escapes.
    """
    if record.pid:
        send_signal(record.pid, record.pid_ticks, signal.SIGKILL)
    pid, ticks = record.supervisor
    marker = f"\0{SUPERVISOR_VARIABLE}={pid}.{ticks}\0".encode()
    for group in record.cgroups:
        # All of a group at once, where the kernel offers that; what it does not reach is looked for.
        with contextlib.suppress(OSError):
            Path(group, "cgroup.kill").write_text("1")
    for _ in range(ROUNDS_MAX):
        killed = _kill_all(_processes(), partial(_is_marked, marker=marker))
        for group in record.cgroups:
            killed += _kill_all(_members(group), partial(_is_member, group=group))
        if not killed:
            break
    for group in reversed(record.cgroups):
        try:
            os.rmdir(group)
        except OSError:  # it is gone already, or something in it would not die
            continue


def _kill_all(pids: Iterable[int], is_leftover: Callable[[int], bool]) -> int:
    killed = 0
    for pid in pids:
        if not is_leftover(pid):
            continue
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            # Looked at again now that the fd holds it: the pid may have changed hands in between.
            if is_leftover(pid):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
                _wait_for_end(fd)
                killed += 1
        except ProcessLookupError:
            continue
        finally:
            os.close(fd)
    return killed


def _wait_for_end(fd: int) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(END_LIMIT_MS)


def _processes() -> Iterator[int]:
    own = os.getpid()
    return (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own)


def _is_marked(pid: int, *, marker: bytes) -> bool:
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # gone, a kernel thread, or another user's
        return False
    return marker in b"\0" + environ


def _is_member(pid: int, *, group: str) -> bool:
    return pid in _members(group)


def _members(group: str) -> list[int]:
    try:
        pids = Path(f"{group}/cgroup.procs").read_text().split()
    except OSError:
        return []
    return [int(pid) for pid in pids if pid != "0"]  # 0 stands for one that cannot be seen from here
