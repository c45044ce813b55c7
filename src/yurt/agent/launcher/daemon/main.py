"""The launcher: listens in the agent's state folder, and keeps supervisors ready to answer there."""

import fcntl
import gc
import os
import select
import signal
import socket
import sys
import time

from .processes import boot_id, die_with_parent, outlive_parent, set_name, start_ticks
from .records import LAUNCHER, SOCKET, SPARE, TASKS, VERSION, Truncated, read_request, write_record
from .supervisor import Supervisor

# Starts that come at once find this many supervisors forked already; each costs about 1 MiB.
SPARES = 4
_BACKLOG = 1024
_LOCK_WAIT_S = 5.0
_RETRY_S = 0.01
# A supervisor that dies unused, or cannot be forked, finds the machine out of memory or pids.
_PAUSE_S = 0.1
_PID_BYTES = 4


def main() -> None:
    """Put a launcher to work in the folder `sys.argv[1]`, in a session of its own.

    Returns when it listens, so the caller needs no other sign. A launcher already at work is as good.
    Exits with 1 and a line on stderr when there can be none.
    """
    ready_read, ready_write = os.pipe()
    if os.fork():
        os.close(ready_write)
        problem = os.read(ready_read, 4096).decode()
        if problem != "ready":
            sys.exit(f"the launcher did not start in {sys.argv[1]}: {problem or 'it ended'}")
        return
    try:
        os.setsid()
        os.umask(0o022)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.chdir(sys.argv[1])
        lock = _lock()
        if lock is None:
            os.write(ready_write, b"ready")
            os._exit(0)
        launcher = Launcher(lock)
    except OSError as error:
        os.write(ready_write, str(error).encode())
        os._exit(1)
    os.write(ready_write, b"ready")
    os.close(ready_write)
    os.close(ready_read)
    launcher.run()


def _lock() -> int | None:
    """Take the folder for this launcher; None when another one listens there already."""
    lock = os.open("launcher.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if _is_answering():
                return None
            if time.monotonic() > deadline:
                raise
            # Its owner is just starting or ending.
            time.sleep(_RETRY_S)
        else:
            return lock


def _is_answering() -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(SOCKET)
        except OSError:
            return False
    return True


def _clear_spares(tasks: str) -> None:
    """Remove the unused records of supervisors that died with an earlier launcher."""
    for name in os.listdir(tasks):
        if name.startswith(SPARE):
            pid, _, start = name.removeprefix(SPARE).partition(".")
            if str(start_ticks(int(pid))) != start:
                os.unlink(f"{tasks}/{name}")


class Launcher:
    """Holds the socket and the lock of its folder, the current one."""

    def __init__(self, lock: int) -> None:
        self._lock = lock
        self._boot_id = boot_id()
        self._tasks = f"{os.getcwd()}/{TASKS}"
        os.makedirs(self._tasks, mode=0o700, exist_ok=True)
        _clear_spares(self._tasks)
        # Under the lock nobody else can be listening, so a socket file is one left by the dead.
        if os.path.lexists(SOCKET):
            os.unlink(SOCKET)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(SOCKET)
        self._listener.listen(_BACKLOG)
        self._own = own = os.getpid()
        process = {"boot": self._boot_id, "pid": str(own), "pid_start": str(start_ticks(own))}
        write_record(LAUNCHER, {"version": VERSION, **process})
        self._taken_read, self._taken = os.pipe2(os.O_CLOEXEC)
        self._spares: set[int] = set()

    def run(self) -> None:
        """Keep SPARES supervisors waiting at the socket, for ever."""
        set_name("yurt-launcher")
        os.chdir("/")
        child_ended, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        # A collection would touch, and so copy, every page the supervisors share with this process.
        gc.disable()
        gc.freeze()
        while True:
            while len(self._spares) < SPARES:
                self._fork_spare((child_ended, wake))
            for fd in select.select([self._taken_read, child_ended], [], [])[0]:
                if fd == child_ended:
                    os.read(child_ended, 4096)
                    self._reap()
                else:
                    pids = os.read(self._taken_read, 64 * _PID_BYTES)
                    for at in range(0, len(pids), _PID_BYTES):
                        self._spares.discard(int.from_bytes(pids[at : at + _PID_BYTES], "little"))

    def _reap(self) -> None:
        """Supervisors are not waited for, but one that died unused has to be replaced."""
        try:
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                if pid in self._spares:
                    self._spares.remove(pid)
                    time.sleep(_PAUSE_S)
        except ChildProcessError:
            return

    def _fork_spare(self, own_fds: tuple[int, int]) -> None:
        try:
            pid = os.fork()
        except OSError:
            time.sleep(_PAUSE_S)
            return
        if pid:
            self._spares.add(pid)
            return
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            # The lock first of all: it must end with the launcher.
            for fd in (self._lock, self._taken_read, *own_fds):
                os.close(fd)
            self._serve()
            status = 0
        except BaseException:  # noqa: BLE001 - this process ends here, and its error goes to the launcher's log
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)

    def _serve(self) -> None:
        """Be a supervisor: wait for a request, answer it, see its task through."""
        set_name("yurt-task")
        die_with_parent(self._own)
        supervisor = Supervisor(self._tasks, self._boot_id)
        supervisor.rehearse()
        connection, _ = self._listener.accept()
        outlive_parent()
        self._listener.close()
        with connection:
            try:
                request = read_request(connection.fileno())
            except Truncated:
                supervisor.withdraw()
                return
            _answer(connection, supervisor.start(request))
        # Only now, so that forking the next one does not take time from this start.
        self._tell_taken()
        supervisor.run()

    def _tell_taken(self) -> None:
        try:
            os.write(self._taken, os.getpid().to_bytes(_PID_BYTES, "little"))
        except BrokenPipeError:  # the launcher has ended, so it needs no other spare
            pass
        finally:
            os.close(self._taken)


def _answer(connection: socket.socket, answer: bytes) -> None:
    try:
        connection.sendall(answer)
    except OSError:  # the agent was killed meanwhile; it will ask again and find the record
        return
