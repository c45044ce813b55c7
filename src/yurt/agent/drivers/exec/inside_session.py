"""Exec sessions inside a container of an OCI runtime."""

from __future__ import annotations

import asyncio
import shutil
import socket
import tempfile
import time
from functools import partial

from yurt.agent.drivers.exec.inside import end_entered, entry_spec, prepare_entry
from yurt.agent.drivers.exec.runtime import Bundle, last_complaint
from yurt.agent.drivers.local_session import (
    LocalSession,
    Streams,
    launch_with_streams,
    session_error,
    session_key,
    start_session,
)
from yurt.agent.drivers.session import SessionRequest
from yurt.agent.launcher import LauncherClient, LaunchSpec, RunningTask, TaskKey

_NAME_BYTES_MAX = 4096


async def open_inside(
    launcher: LauncherClient, key: TaskKey, bundle: Bundle, request: SessionRequest
) -> LocalSession:
    """Start a command in the container of `key`, with the task's user, environment and limits.

    Raises DriverError. A command that the runtime cannot find may be told by the session's end.
    """
    entered = f"{bundle.path}/entered.{time.time_ns()}"
    entry = await asyncio.to_thread(prepare_entry, bundle, request.argv, entered, tty=request.tty)
    # Not in the bundle: the path of a socket is limited to 107 bytes.
    directory = (
        tempfile.mkdtemp(prefix="yurt-exec-") if request.tty and entry.runtime.hands_out_terminals else ""
    )
    argv = bundle.exec_arguments(
        entry.runtime,
        key.record,
        entered,
        manages_cgroups=entry.manages_cgroups,
        console_socket=f"{directory}/console" if directory else "",
    )
    spec = entry_spec(session_key(key), bundle, entry, argv)
    try:
        if directory:
            task, streams = await _receive_terminal(launcher, spec, f"{directory}/console", entered)
        else:
            task, streams = await launch_with_streams(launcher, spec, tty=request.tty)
    except BaseException:
        await asyncio.to_thread(end_entered, entered)
        raise
    finally:
        if directory:
            await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)
    return LocalSession(
        launcher,
        task,
        streams,
        failure=partial(_failure, entered),
        clean_up=partial(end_entered, entered),
    )


async def _receive_terminal(
    launcher: LauncherClient, spec: LaunchSpec, path: str, entered: str
) -> tuple[RunningTask, Streams]:
    """Start the runtime, which makes a terminal inside the container and hands its other side out."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        listener.setblocking(False)
        task = await start_session(launcher, spec)
        ended = asyncio.ensure_future(task.wait())
        handed = asyncio.ensure_future(_accept_terminal(listener))
        try:
            await asyncio.wait((ended, handed), return_when=asyncio.FIRST_COMPLETED)
            if handed.done():
                return task, Streams(master=handed.result())
            code = ended.result().exit_code
        except BaseException:
            await task.kill_now()
            launcher.forget(task.key)
            raise
        finally:
            for waiting in (ended, handed):
                waiting.cancel()
    launcher.forget(task.key)
    raise session_error(_complaint(entered) or f"the runtime ended with code {code}")


async def _accept_terminal(listener: socket.socket) -> int:
    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    with connection:
        connection.setblocking(True)
        fds = (await asyncio.to_thread(socket.recv_fds, connection, _NAME_BYTES_MAX, 1))[1]
    if not fds:
        raise session_error("unable to start container process: its terminal could not be made")
    return fds[0]


def _failure(entered: str) -> str:
    complaint = _complaint(entered)
    return str(session_error(complaint)) if complaint else ""


def _complaint(entered: str) -> str:
    complaint = last_complaint(f"{entered}.log")
    return f"unable to start container process: {complaint}" if complaint else ""
