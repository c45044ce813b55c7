"""One task's life: started once, its output kept, its end recorded.

A supervisor is forked before it is needed, and waits for a request: forking it is most of what a start
costs. So is making a file on many disks, so its record exists beforehand, too, under a name of its own.
The link to the key's name is what decides that this process, and no other, starts the key.

Nothing here depends on the agent, which may be killed and started again at any point.
"""

import os
import select
import signal
import time

from . import cgroup, command
from .command import Failed
from .logs import RotatedLog
from .processes import adopt_orphans, kill_descendants, reap, start_ticks
from .records import (
    CLAIMED,
    EXITED,
    LENGTH_DIGITS,
    SPARE,
    STARTED,
    encode_record,
    encode_request,
    read_record,
)
from .request import Request

# The agent's order to kill the whole tree; the task then ends like any other.
KILL_SIGNAL = signal.SIGUSR1
DRAIN_LIMIT_S = 2.0
RECORD_RETRY_S = 1.0
# What a terminal or a service manager sends to everything at once: the task decides what it means.
_IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
# How often to look whether another supervisor has started the key that it claimed.
_CLAIM_RETRY_S = 0.005
_EMPTY = Request(b"")
_REHEARSAL = encode_request(
    [("record", "0" * 26), ("alloc", "0" * 36), ("task", "t"), ("attempt", "0"), ("path", "/nonexistent")]
    + [("arg", "0" * 16)] * 3
    + [("cgroup_make", "0" * 64)] * 2,
    [f"VARIABLE_{number}={'0' * 32}" for number in range(64)],
)[LENGTH_DIGITS:]


class Supervisor:
    """Supervises one task in a process of its own, of which it takes over the signals.

    `tasks` is the folder of the tasks' records.
    """

    def __init__(self, tasks: str, boot_id: str) -> None:
        self._tasks = tasks
        self._request = _EMPTY
        self._task = 0
        self._status: int | None = None
        self._is_started = False
        os.setsid()
        adopt_orphans()
        self._child_ended, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        for number in (signal.SIGCHLD, KILL_SIGNAL):
            signal.signal(number, _wake)
        self._logs: dict[int, RotatedLog] = {}  # by the pipe's read end
        self._null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self._pipes = [os.pipe2(os.O_CLOEXEC) for _ in ("stdout", "stderr")]
        own = os.getpid()
        own_start = start_ticks(own)
        self._mark = f"{own}.{own_start}"
        self._spare = f"{tasks}/{SPARE}{self._mark}"
        self._record = os.open(self._spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._own = {"boot": boot_id, "supervisor": str(own), "supervisor_start": str(own_start)}

    def rehearse(self) -> None:
        """Go through a start that fails, so that the real one finds the memory that it writes to its own.

        After a fork, each page is copied when it is first written to.
        """
        request = Request(_REHEARSAL)
        facts = {name: request.text(name) for name in ("alloc", "task", "attempt")}
        encode_record({**facts, **self._own})
        try:
            command.start(request, null=self._null, sinks=(self._null, self._null), mark=self._mark)
        except Failed:
            return

    def start(self, data: bytes) -> bytes:
        """Start the task of a request unless its key was started before; returns the answer.

        After an answer other than `started` there is nothing left to do: `run` returns at once.
        """
        self._request = request = Request(data)
        key = f"{self._tasks}/{request.text('record')}"
        facts = {
            "alloc": request.text("alloc"),
            "task": request.text("task"),
            "attempt": request.text("attempt"),
            **self._own,
            # What a killed supervisor leaves behind is found by its groups; no name holds a NUL.
            "cgroups": "\0".join(request.texts("cgroup_make")),
            "part": CLAIMED,
        }
        try:
            os.write(self._record, encode_record(facts))
            known = self._claim(key)
            if known is not None:
                return b"status=attached\n" + encode_record(known)
        except OSError as error:
            return _refusal(_failed_to_prepare(error))
        finally:
            os.unlink(self._spare)
        try:
            self._make_logs()
            cgroup.make(request)
            self._start_task()
            facts |= self._put_task_on_record()
        except (Failed, OSError) as error:
            # Undo all, so that the same key can be tried again.
            kill_descendants(self._child_ended, {})
            cgroup.remove(request)
            os.unlink(key)
            return _refusal(error if isinstance(error, Failed) else _failed_to_prepare(error))
        self._is_started = True
        return b"status=started\n" + encode_record(facts)

    def _claim(self, key: str) -> dict[str, str] | None:
        """Put the record under the key's name; returns the one that is there already."""
        while True:
            try:
                os.link(self._spare, key)
            except FileExistsError:
                known = read_record(key)
                if known is not None and not _is_starting(known):
                    return known
                # It was forgotten this moment, so the name is free; or its task is on record any moment.
                time.sleep(_CLAIM_RETRY_S)
            else:
                return None

    def withdraw(self) -> None:
        """Leave nothing behind, instead of `start`."""
        os.unlink(self._spare)

    def run(self) -> None:
        """Copy output and reap until the task ends, then clear up and record how it ended."""
        if not self._is_started:
            return
        poll = select.poll()
        for fd in (self._child_ended, *self._logs):
            poll.register(fd, select.POLLIN)
        while self._status is None:
            for fd, _ in poll.poll():
                if fd == self._child_ended:
                    self._reap(os.read(fd, 4096))
                elif not self._logs[fd].pump(fd):
                    poll.unregister(fd)
                    del self._logs[fd]
                    os.close(fd)
        ended_ns = time.time_ns()
        cgroup.kill(self._request)
        kill_descendants(self._child_ended, {})
        self._drain()
        self._record_exit(self._status, ended_ns)
        cgroup.remove(self._request)

    def _reap(self, signals: bytes) -> None:
        statuses: dict[int, int] = {}
        reap(statuses)
        if KILL_SIGNAL in signals:
            cgroup.kill(self._request)
            kill_descendants(self._child_ended, statuses)
        self._status = statuses.get(self._task)

    def _start_task(self) -> None:
        """Start the command, and take over the task from one that only starts it, as a runtime does.

        The task is orphaned by what started it, now or soon, and becomes a child of this process. Its
        output waits in the pipes meanwhile.
        """
        sinks = (self._pipes[0][1], self._pipes[1][1])
        self._task = command.start(self._request, null=self._null, sinks=sinks, mark=self._mark)
        for fd in (self._null, *sinks):
            os.close(fd)
        for log in self._logs.values():
            log.open()
        pid_file = self._request.text("pid_file")
        if not pid_file:
            return
        self._put_task_on_record()
        status = os.waitpid(self._task, 0)[1]
        if status:
            raise Failed("starter", 0, f"it ended with status {os.waitstatus_to_exitcode(status)}")
        try:
            with open(pid_file, encoding="ascii") as file:
                self._task = int(file.read())
        except ValueError:
            raise Failed("starter", 0, f"{pid_file} holds no pid") from None

    def _put_task_on_record(self) -> dict[str, str]:
        facts = {
            "pid": str(self._task),
            "pid_start": str(start_ticks(self._task)),
            "started_ns": str(time.time_ns()),
            "part": STARTED,
        }
        os.write(self._record, encode_record(facts))
        return facts

    def _make_logs(self) -> None:
        directory = self._request.text("log_directory")
        for (source, _), stream in zip(self._pipes, ("stdout", "stderr"), strict=True):
            if not directory:
                os.close(source)
                continue
            self._logs[source] = RotatedLog(
                directory,
                f"{self._request.text('task')}.{stream}",
                self._request.number("log_files_max"),
                self._request.number("log_bytes_max"),
            )
            os.set_blocking(source, False)

    def _drain(self) -> None:
        """Empty the pipes: all writers are gone, so what they hold now is all there will be.

        The limit is for a pipe that a task handed to a process outside its tree.
        """
        deadline = time.monotonic() + DRAIN_LIMIT_S
        for source, log in self._logs.items():
            poll = select.poll()
            poll.register(source, select.POLLIN)
            while time.monotonic() < deadline and poll.poll(0) and log.pump(source):
                pass
            log.close()

    def _record_exit(self, status: int, ended_ns: int) -> None:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        facts = {
            "exit_code": str(128 + number if number else os.WEXITSTATUS(status)),
            "signal": str(number),
            "oom_killed": str(int(cgroup.was_oom_killed(self._request))),
            "ended_ns": str(ended_ns),
            "part": EXITED,
        }
        while True:
            try:
                os.write(self._record, encode_record(facts))
            except OSError:  # a failing disk: the task counts as running until its end can be told
                time.sleep(RECORD_RETRY_S)
            else:
                return


def _wake(number: int, frame: object) -> None:
    """Nothing: a handler must be there for the signal to reach the wake-up pipe."""


def _is_starting(facts: dict[str, str]) -> bool:
    """Whether the supervisor of a record is about to add its task."""
    return (
        facts["part"] == CLAIMED and str(start_ticks(int(facts["supervisor"]))) == facts["supervisor_start"]
    )


def _failed_to_prepare(error: OSError) -> Failed:
    text = f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror)
    return Failed("prepare", error.errno or 0, text)


def _refusal(failure: Failed) -> bytes:
    reason = failure.reason.replace("\n", " ")
    facts = {"status": "failed", "step": failure.step, "errno": str(failure.number), "reason": reason}
    return encode_record(facts)
