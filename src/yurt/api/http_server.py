"""Serving an application on sockets, within the agent's own loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator, Sequence

import uvicorn

from yurt.api.app import HttpApp
from yurt.errors import YurtError

BACKLOG = 2048
# Longer than any blocking query may pause, so that clients' idle connections survive between two.
KEEP_ALIVE_S = 330


class CannotListen(YurtError):
    """An address cannot be listened on."""


def bind(host: str, port: int, setting: str) -> socket.socket:
    """Listen on an address. Raises CannotListen with what to do about it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            advice = f"another program uses that port; stop it or set another one with {setting}"
        elif error.errno == errno.EADDRNOTAVAIL:
            advice = "this machine does not have that address; check bind_addr and addresses"
        else:
            advice = "check bind_addr, addresses and ports"
        raise CannotListen(f"cannot listen on {host}:{port}: {error.strerror}; {advice}") from error
    sock.setblocking(False)
    return sock


class _Uvicorn(uvicorn.Server):
    """Uvicorn that leaves signals to the agent."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class HttpServer:
    """An application on its sockets."""

    def __init__(self, app: HttpApp, sockets: Sequence[socket.socket]) -> None:
        self._sockets = list(sockets)
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                http="httptools",
                ws="none",
                loop="none",
                lifespan="off",
                log_config=None,
                # The application tells of its own failures; what is left are requests cut off by a stop.
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_S,
                backlog=BACKLOG,
            )
        )

    async def serve(self, stop: asyncio.Event, grace_s: float) -> None:
        """Serve until `stop` is set, then let open requests end for `grace_s`."""
        serving = asyncio.ensure_future(self._server.serve(sockets=self._sockets))
        try:
            await asyncio.wait(
                {serving, asyncio.ensure_future(stop.wait())}, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            self._server.should_exit = True
            self._server.force_exit = True
            async with asyncio.timeout(grace_s):
                await serving
