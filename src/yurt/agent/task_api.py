"""The socket on which a task finds the API."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable
from typing import Protocol

from yurt.agent.access.confined import open_dir_below
from yurt.agent.drivers.users import host_user
from yurt.observe.logger import get_logger

SOCKET_NAME = "api.sock"
BACKLOG = 16
OWNED_MODE = 0o600
SHARED_MODE = 0o666

logger = get_logger("task_api")


class Door(Protocol):
    """Serves the API on connections of one task."""

    async def serve(self, connection: socket.socket) -> None:
        """Serve an accepted connection; returns once that has begun."""

    def close(self) -> None:
        """Close what is open."""


OpenDoor = Callable[[], Door]
"""Makes what serves one task; called at its first connection, so that others cost nothing."""


class TaskSocket:
    """A Unix socket in a task's secrets directory. Listening costs a few system calls, and no task."""

    def __init__(self, task_dir: str, open_door: OpenDoor) -> None:
        self._task_dir = task_dir
        self._open_door = open_door
        self._door: Door | None = None
        self._listener: socket.socket | None = None
        self._serving: set[asyncio.Task[None]] = set()

    def listen(self, user: str) -> None:
        """Begin to listen, for the task's `user` or without one for all. Raises OSError, PathEscapes."""
        owner = host_user(user)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        directory = open_dir_below(self._task_dir, "secrets")
        try:
            listener.setblocking(False)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(SOCKET_NAME, dir_fd=directory)
            # Addresses of sockets are short, and paths of allocations are not.
            listener.bind(f"/proc/self/fd/{directory}/{SOCKET_NAME}")
            os.chmod(SOCKET_NAME, SHARED_MODE if owner is None else OWNED_MODE, dir_fd=directory)
            if owner is not None:
                os.chown(SOCKET_NAME, *owner, dir_fd=directory, follow_symlinks=False)
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
        finally:
            os.close(directory)
        self._listener = listener
        asyncio.get_running_loop().add_reader(listener.fileno(), self._accept)

    def close(self) -> None:
        """Stop listening and end what is open. The file goes with the task's directory."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener.fileno())
            self._listener.close()
            self._listener = None
        for task in self._serving:
            task.cancel()
        if self._door is not None:
            self._door.close()
            self._door = None

    @property
    def is_listening(self) -> bool:
        """Whether the task can connect."""
        return self._listener is not None

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            logger.warning("task_api.not_accepted", error=str(error))
            return
        connection.setblocking(False)
        if self._door is None:
            self._door = self._open_door()
        serving = asyncio.ensure_future(self._door.serve(connection))
        self._serving.add(serving)
        serving.add_done_callback(self._served)

    def _served(self, serving: asyncio.Task[None]) -> None:
        self._serving.discard(serving)
        if not serving.cancelled() and serving.exception() is not None:
            logger.warning("task_api.not_served", error=str(serving.exception()))
