"""Which process is which, and how to end a whole tree of them."""

import ctypes
import os
import select
import signal
import time

# Longer than any process needs that can be killed at all; what hangs in the kernel beyond it is left.
KILL_LIMIT_S = 15.0
_KILL_ROUND_S = 0.1

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_CLONE_NEWNS = 0x00020000
_CLONE_NEWNET = 0x40000000
_MS_REC, _MS_SLAVE = 1 << 14, 1 << 19
_MNT_DETACH = 2
_SYS_CLONE3 = 435
_CLONE_INTO_CGROUP = 0x200000000
_libc = ctypes.CDLL(None, use_errno=True)
# Holds on to the interpreter during a call: whoever comes back from a fork needs it.
_libc_inside = ctypes.PyDLL(None, use_errno=True)


def boot_id() -> str:
    """Names this boot of the machine: a pid means nothing in another one."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def start_ticks(pid: int) -> int | None:
    """When the process began, in clock ticks since boot; None when there is no such process.

    With the pid it names a process for good, as the kernel hands out pids again.
    """
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        stat = os.read(fd, 4096)
    except OSError:  # it ended between open and read
        return None
    finally:
        os.close(fd)
    # The command name may hold spaces and parentheses, so count from its end.
    return int(stat[stat.rindex(b")") + 2 :].split()[19])


def set_name(name: str) -> None:
    """Name this process in `ps` and `top`."""
    _libc.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot become a child subreaper")


def die_with_parent(parent: int) -> None:
    """Be killed when `parent`, the process that forked this one, ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before we asked
        os.kill(os.getpid(), signal.SIGKILL)


def outlive_parent() -> None:
    """Undo `die_with_parent`."""
    _libc.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)


class _CloneArguments(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            *("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls"),
            *("set_tid", "set_tid_size", "cgroup"),
        )
    )


def fork_into(group: str) -> int:
    """Fork a child that is in a control group of version 2 from its beginning; returns as os.fork does.

    Moving a process there later takes a lock of the whole machine, for some ten milliseconds. This
    process must have one thread. Raises OSError where the kernel cannot do it, or not with this group.
    """
    fd = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        arguments = _CloneArguments(flags=_CLONE_INTO_CGROUP, exit_signal=signal.SIGCHLD, cgroup=fd)
        pid: int = _libc_inside.syscall(_SYS_CLONE3, ctypes.byref(arguments), ctypes.sizeof(arguments))
        _check(min(pid, 0), group)
    finally:
        os.close(fd)
    return pid


def enter_network_namespace(path: str) -> None:
    """Move this process into the network namespace at `path` (os.setns is there from 3.12 only)."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(fd, _CLONE_NEWNET), path)
    finally:
        os.close(fd)


def hide_mounts(paths: list[str]) -> None:
    """Give this process a view of the file system without the mounts at `paths`; the others keep theirs."""
    if not paths:
        return
    _check(_libc.unshare(_CLONE_NEWNS), "/")
    # What is mounted from here on stays here; what the host mounts and unmounts still arrives.
    _check(_libc.mount(b"none", b"/", None, _MS_REC | _MS_SLAVE, None), "/")
    for path in paths:
        _check(_libc.umount2(os.fsencode(path), _MNT_DETACH), path)


def _check(result: int, path: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)


def children() -> list[int]:
    """Pids of this process's children; this process must have one thread."""
    try:
        with open("/proc/thread-self/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        own = os.getpid()
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(int(name)) == own]


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return None
    return int(stat[stat.rindex(b")") + 2 :].split()[1])


def kill_descendants(child_ended: int, statuses: dict[int, int]) -> bool:
    """Kill and reap all there is below this process; False when some would not die in time.

    Wants `adopt_orphans` in force: each round kills the children, and whoever they leave behind is a
    child in the next. A group is killed in one call, which no fork can outrun. `child_ended` becomes
    readable at SIGCHLD; `statuses` takes what was reaped.
    """
    deadline = time.monotonic() + KILL_LIMIT_S
    own_group = os.getpgrp()
    while reap(statuses):
        for pid in children():
            try:
                group = os.getpgid(pid)
                if group != own_group:
                    os.killpg(group, signal.SIGKILL)
                os.kill(pid, signal.SIGKILL)
            except OSError:  # it is gone, or not ours to kill: the deadline decides
                continue
        if time.monotonic() > deadline:
            return False
        if select.select([child_ended], [], [], _KILL_ROUND_S)[0]:
            os.read(child_ended, 4096)
    return True


def reap(statuses: dict[int, int]) -> bool:
    """Collect every ended child into `statuses`; False when there are no children left."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
            statuses[pid] = status
    except ChildProcessError:
        return False
