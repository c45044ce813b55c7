"""The task's own process, up to its first instruction."""

import os
import resource
import signal

from . import docker_logs
from .processes import die_with_parent, enter_network_namespace, fork_into, hide_mounts
from .request import Request

# Every process of a task carries its supervisor's pid and start in this variable, so that what a killed
# supervisor leaves behind can be found.
SUPERVISOR_VARIABLE = "YURT_SUPERVISOR"
# Python ignores the first two, the supervisor handles or ignores the others.
_RESET = (
    *(signal.SIGPIPE, signal.SIGXFSZ),
    *(signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1),
)
# What only the process itself can do, between fork and exec.
_OWN_STEPS = (
    *("uid", "rlimit", "oom_score_adj", "network_namespace", "hidden_mount"),
    *("stdio", "terminal", "builtin"),
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


def start(request: Request, *, null: int, sinks: tuple[int, int], mark: str) -> int:
    """Start the command of a request in a session of its own; returns its pid once it is executed.

    Raises Failed. `sinks` are the ends of the pipes that its output goes into, `mark` the value of
    SUPERVISOR_VARIABLE.
    """
    env = request.environment()
    env[SUPERVISOR_VARIABLE.encode()] = mark.encode()
    groups, home = request.texts("cgroup_join"), request.texts("cgroup_home")
    if request.has_any(_OWN_STEPS) or len(groups) != len(home):
        return _fork(request, null=null, sinks=sinks, env=env)
    # A copy of this process would cost most of the start, so this one takes the steps itself, hands what
    # it is on to the command, and goes back.
    step = "chdir"
    try:
        os.chdir(request.text("cwd", "/"))
        mask = os.umask(request.number("umask", 0o022))
        step = "cgroup"
        for group in groups:
            _join(group)
        step = "exec"
        streams = (null, *sinks) if request.text("log_directory") else (null, null, null)
        return os.posix_spawn(
            request.text("path"),
            request.texts("arg"),
            env,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(streams)],
            setsid=True,
            setsigmask=(),
            setsigdef=_RESET,
        )
    except OSError as error:
        raise Failed(step, error.errno or 0, error.strerror or str(error)) from error
    finally:
        if step != "chdir":
            os.umask(mask)
            _go_home(home)
        os.chdir("/")


def _fork(request: Request, *, null: int, sinks: tuple[int, int], env: dict[bytes, bytes]) -> int:
    parent = os.getpid()
    error_read, error_write = os.pipe2(os.O_CLOEXEC)
    groups = request.texts("cgroup_join")
    pid = None
    if len(groups) == 1:
        try:
            pid, groups = fork_into(groups[0]), []
        except OSError:  # a group of version 1, or a kernel before 5.7
            pid = None
    if pid is None:
        pid = os.fork()
    if pid == 0:
        try:
            _become(request, parent=parent, null=null, sinks=sinks, groups=groups, env=env)
        except Failed as failure:
            os.write(error_write, f"{failure.number}\0{failure.step}\0{failure.reason}".encode())
        finally:
            os._exit(127)
    os.close(error_write)
    error = os.read(error_read, 4096)  # the end of the file, unless a step failed: exec closed it
    os.close(error_read)
    if error:
        number, step, reason = error.decode().split("\0", 2)
        raise Failed(step, int(number), reason)
    return pid


def _become(
    request: Request,
    *,
    parent: int,
    null: int,
    sinks: tuple[int, int],
    groups: list[str],
    env: dict[bytes, bytes],
) -> None:
    """Turn this process into the command; comes back only by raising Failed."""
    step = "stdio"
    try:
        os.setsid()
        die_with_parent(parent)
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        for standard, fd in enumerate(_streams(request, sinks, null)):
            os.dup2(fd, standard)
        step = "cgroup"
        for group in groups:
            _join(group)
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


def _go_home(groups: list[str]) -> None:
    for group in groups:
        try:
            _join(group)
        except OSError:  # it is gone: the task's has to do, and stays behind when both have ended
            continue


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
