"""Exec sessions whose command is a process of this machine."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
import time
from collections.abc import Callable

import msgspec

from yurt.agent.drivers.driver import DriverError
from yurt.agent.drivers.launched import failure_reason
from yurt.agent.drivers.session import STDERR, STDOUT
from yurt.agent.launcher import (
    ExitResult,
    LauncherClient,
    LauncherUnavailable,
    LaunchFailed,
    LaunchSpec,
    RunningTask,
    TaskKey,
    TaskLost,
)

READ_BYTES_MAX = 32 << 10
# What a terminal's line discipline takes for the end of input.
END_OF_INPUT = b"\x04"
TERMINAL_SIDE_MAX = (1 << 16) - 1


def session_key(key: TaskKey) -> TaskKey:
    """A name for one command beside the task of `key`."""
    return TaskKey(key.alloc_id, f"{key.task}.session", time.time_ns())


class Streams:
    """This side's ends of a command's streams: a terminal, or three pipes."""

    def __init__(self, *, master: int = -1, pipes: tuple[int, int, int] | None = None) -> None:
        self._master = master
        self._pipes = dict(zip(("stdin", STDOUT, STDERR), pipes, strict=True)) if pipes else {}
        for fd in self._own:
            os.set_blocking(fd, False)

    @property
    def _own(self) -> list[int]:
        return [fd for fd in (self._master, *self._pipes.values()) if fd >= 0]

    @property
    def names(self) -> tuple[str, ...]:
        return (STDOUT,) if self._master >= 0 else (STDOUT, STDERR)

    async def read(self, stream: str) -> bytes:
        fd = self._master if self._master >= 0 else self._pipes.get(stream, -1)
        while fd >= 0:
            try:
                return os.read(fd, READ_BYTES_MAX)
            except BlockingIOError:
                await _ready(fd, for_writing=False)
            except OSError:  # the last process with the terminal has closed it
                break
        return b""

    async def write(self, data: bytes) -> None:
        fd = self._master if self._master >= 0 else self._pipes.get("stdin", -1)
        view = memoryview(data)
        while view and fd >= 0:
            try:
                view = view[os.write(fd, view) :]
            except BlockingIOError:
                await _ready(fd, for_writing=True)
            except OSError:  # nobody reads it any more
                return

    async def close_input(self) -> None:
        if self._master >= 0:
            await self.write(END_OF_INPUT)
        elif (fd := self._pipes.pop("stdin", -1)) >= 0:
            os.close(fd)

    def resize(self, *, height: int, width: int) -> None:
        if self._master >= 0:
            sides = (min(max(side, 0), TERMINAL_SIDE_MAX) for side in (height, width))
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", *sides, 0, 0))

    def close(self) -> None:
        for fd in self._own:
            os.close(fd)
        self._master = -1
        self._pipes = {}


class LocalSession:
    """A `Session` of a launched process. `clean_up` blocks; it is called in a thread at the very end."""

    def __init__(
        self,
        launcher: LauncherClient,
        task: RunningTask,
        streams: Streams,
        *,
        failure: Callable[[], str] = lambda: "",
        clean_up: Callable[[], None] = lambda: None,
    ) -> None:
        self._launcher = launcher
        self._task = task
        self._streams = streams
        self._failure = failure
        self._clean_up = clean_up

    @property
    def streams(self) -> tuple[str, ...]:
        return self._streams.names

    async def read(self, stream: str) -> bytes:
        return await self._streams.read(stream)

    async def write(self, data: bytes) -> None:
        await self._streams.write(data)

    async def close_input(self) -> None:
        await self._streams.close_input()

    async def resize(self, *, height: int, width: int) -> None:
        self._streams.resize(height=height, width=width)

    async def wait(self) -> ExitResult:
        result = await self._task.wait()
        reason = self._failure() if not result.is_success else ""
        return ExitResult(exit_code=result.exit_code, error=reason) if reason else result

    async def close(self) -> None:
        self._streams.close()
        await asyncio.to_thread(self._clean_up)
        await self._task.kill_now()
        self._launcher.forget(self._task.key)


async def launch_with_streams(
    launcher: LauncherClient, spec: LaunchSpec, *, tty: bool
) -> tuple[RunningTask, Streams]:
    """Start a command with a terminal or pipes of its own. Raises DriverError."""
    streams, theirs, spec = _open_terminal(spec) if tty else _open_pipes(spec)
    try:
        return await start_session(launcher, spec), streams
    except BaseException:
        streams.close()
        raise
    finally:
        for fd in theirs:
            os.close(fd)


async def start_session(launcher: LauncherClient, spec: LaunchSpec) -> RunningTask:
    """Start a session's command. Raises DriverError in the words that clients know from Nomad."""
    try:
        return await launcher.start(spec)
    except LaunchFailed as error:
        raise session_error(f"failed to start command: {failure_reason(error, spec.path)}") from error
    except (LauncherUnavailable, TaskLost, ValueError) as error:
        raise session_error(f"failed to start command: {error}") from error


def session_error(reason: str) -> DriverError:
    """A command that could not be run."""
    return DriverError(f"rpc error: code = Unknown desc = {reason}")


def _open_terminal(spec: LaunchSpec) -> tuple[Streams, tuple[int, ...], LaunchSpec]:
    master, slave = os.openpty()
    if spec.identity is not None:
        # Programs such as screen open their terminal by its name.
        os.fchown(slave, spec.identity.uid, -1)
    return Streams(master=master), (slave,), msgspec.structs.replace(spec, terminal=os.ttyname(slave))


def _open_pipes(spec: LaunchSpec) -> tuple[Streams, tuple[int, ...], LaunchSpec]:
    ends = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
    (stdin_read, stdin), (stdout, stdout_write), (stderr, stderr_write) = ends
    theirs = (stdin_read, stdout_write, stderr_write)
    # The command's process is another one's child, so it opens the pipes anew instead of inheriting them.
    paths = tuple(f"/proc/{os.getpid()}/fd/{fd}" for fd in theirs)
    return Streams(pipes=(stdin, stdout, stderr)), theirs, msgspec.structs.replace(spec, stdio=paths)


async def _ready(fd: int, *, for_writing: bool) -> None:
    """Wait until something can be read from, or written to, a descriptor."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    add, remove = (
        (loop.add_writer, loop.remove_writer) if for_writing else (loop.add_reader, loop.remove_reader)
    )
    add(fd, ready.set)
    try:
        await ready.wait()
    finally:
        remove(fd)
