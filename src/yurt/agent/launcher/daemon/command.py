"""The task's own process, from fork to exec."""

import os
import resource
import signal

from . import docker_logs
from .processes import die_with_parent, enter_network_namespace, hide_mounts, start_ticks
from .records import Truncated, read_request
from .request import Request

# Every process of a task carries its supervisor's pid and start in this variable, so that what a killed
# supervisor leaves behind can be found.
SUPERVISOR_VARIABLE = "YURT_SUPERVISOR"
# Python ignores the first two, the supervisor handles or ignores the others.
_RESET = (
    *(signal.SIGPIPE, signal.SIGXFSZ),
    *(signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1),
)

_BUILTINS = {docker_logs.NAME: docker_logs.follow}
_STANDARD_FDS, _FDS_MAX = 3, 1 << 20


class Failed(Exception):
    """A step before the command's first instruction did not succeed; `number` is its errno, or 0."""

    def __init__(self, step: str, number: int, reason: str) -> None:
        super().__init__(step, number, reason)
        self.step = step
        self.number = number
        self.reason = reason


def wait_and_become(*, parent: int, sinks: tuple[int, int], requests: int) -> None:
    """Wait for a request on the pipe `requests`, then turn this process into its task.

    Comes back only by raising Failed. The request arrives once this process is on record; when it never
    arrives, because the supervisor has nothing to start or was killed, this process ends.
    """
    os.setsid()
    die_with_parent(parent)
    for number in _RESET:
        signal.signal(number, signal.SIG_DFL)
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    mark = f"{parent}.{start_ticks(parent)}"
    try:
        request = Request(read_request(requests))
    except Truncated:
        os._exit(1)
    step = "stdio"
    try:
        for standard, fd in enumerate(_streams(request, sinks, null)):
            os.dup2(fd, standard)
        step = "cgroup"
        for directory in request.texts("cgroup_join"):
            _join(directory)
        step = "oom_score_adj"
        if request.text("oom_score_adj"):
            _write("/proc/self/oom_score_adj", request.text("oom_score_adj"))
        step = "network namespace"
        if request.text("network_namespace"):
            enter_network_namespace(request.text("network_namespace"))
        step = "hide mounts"
        hide_mounts(request.texts("hidden_mount"))
        step = "rlimit"
        for kind, value in request.pairs("rlimit"):
            soft, _, hard = value.partition(":")
            resource.setrlimit(int(kind), (int(soft), int(hard)))
        os.umask(request.number("umask", 0o022))
        step = "user"
        _become_user(request)
        die_with_parent(parent)  # again: a change of user undoes it
        step = "chdir"
        os.chdir(request.text("cwd", "/"))
        step = "exec"
        if request.text("builtin"):
            _be_builtin(request)
        env = dict(request.pairs("env"))
        env[SUPERVISOR_VARIABLE] = mark
        os.execve(request.text("path"), request.texts("arg"), env)  # noqa: S606
    except OSError as error:
        raise Failed(step, error.errno or 0, error.strerror or str(error)) from error
    except ValueError as error:  # a limit that may not be raised
        raise Failed(step, 0, str(error)) from error


def _join(group: str) -> None:
    """Move this process, which has one thread, into a control group."""
    try:
        # Of version 1: one thread moves itself without the machine-wide lock that a process takes.
        _write(f"{group}/tasks", "0")
    except FileNotFoundError:
        _write(f"{group}/cgroup.procs", "0")


def _streams(request: Request, sinks: tuple[int, int], null: int) -> tuple[int, ...]:
    """What the command reads and writes: a terminal, pipes of who asked for it, or the logs."""
    terminal = request.text("terminal")
    if terminal:
        # The first terminal that a session's leader opens is the one that controls the session.
        return (os.open(terminal, os.O_RDWR | os.O_CLOEXEC),) * 3
    paths = request.texts("stdio")
    if paths:
        modes = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)
        return tuple(os.open(path, mode | os.O_CLOEXEC) for path, mode in zip(paths, modes, strict=True))
    return (null, *sinks) if request.text("log_directory") else (null, null, null)


def _be_builtin(request: Request) -> None:
    """Do what the launcher does itself, in the place of a program, and end."""
    do = _BUILTINS[request.text("builtin")]
    signal.set_wakeup_fd(-1)
    # As exec would have done; it also tells the supervisor that the task has begun.
    os.closerange(_STANDARD_FDS, _FDS_MAX)
    os._exit(do(request.texts("arg")))


def _become_user(request: Request) -> None:
    if not request.text("uid"):
        return
    uid, gid = request.number("uid"), request.number("gid")
    if (uid, gid) == (os.geteuid(), os.getegid()):
        return  # nothing to change, which a user without privileges may do
    # The uid last: without root the others could no longer change.
    os.setgroups([int(group) for group in request.texts("group")])
    os.setgid(gid)
    os.setuid(uid)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
