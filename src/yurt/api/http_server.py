"""Serving an application on sockets, within the agent's own loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from yurt.api.connection import connection_type
from yurt.api.connection_limits import DEFAULT_LIMITS, ConnectionLimits
from yurt.api.websocket import MESSAGE_BYTES_MAX
from yurt.errors import YurtError

BACKLOG = 2048
# A caller that vanished is noticed after 60 s of silence and four questions, 15 s apart.
SILENT_S, PROBE_INTERVAL_S, PROBES_MAX = 60, 15, 4


class CannotListen(YurtError):
    """An address cannot be listened on."""


def bind(host: str, port: int, setting: str) -> socket.socket:
    """Listen on an address. Raises CannotListen with what to do about it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit these from the socket that listens.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, SILENT_S),
        (socket.TCP_KEEPINTVL, PROBE_INTERVAL_S),
        (socket.TCP_KEEPCNT, PROBES_MAX),
    ):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
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
    """Uvicorn that leaves signals to the agent, and listens with TLS that can be renewed."""

    def __init__(
        self, config: uvicorn.Config, tls: ssl.SSLContext | None, handshake_timeout_s: float
    ) -> None:
        super().__init__(config)
        self._tls = tls
        self._handshake_timeout_s = handshake_timeout_s
        self._listening: list[socket.socket] = []

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        assert sockets is not None
        self._listening = sockets
        self.servers = await self._listen()
        self.started = True

    async def renew_tls(self, tls: ssl.SSLContext | None) -> None:
        """Use `tls` for new connections; those that are open go on as they are."""
        self._tls = tls
        if self.started:
            old, self.servers = self.servers, await self._listen()
            for server in old:
                server.close()

    async def _listen(self) -> list[asyncio.base_events.Server]:
        loop = asyncio.get_running_loop()
        config, tls = self.config, self._tls

        def connection() -> asyncio.Protocol:
            protocol = config.http_protocol_class(
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )  # type: ignore[call-arg]
            assert isinstance(protocol, asyncio.Protocol)
            return protocol

        return [
            await loop.create_server(
                connection,
                # A copy, for a renewal closes it while its successor already listens on another.
                sock=sock.dup(),
                ssl=tls,
                ssl_handshake_timeout=self._handshake_timeout_s if tls is not None else None,
                backlog=config.backlog,
            )
            for sock in self._listening
        ]


class HttpServer:
    """An application on its sockets, with TLS if a context is given."""

    def __init__(
        self,
        app: ASGIApp,
        sockets: Sequence[socket.socket],
        *,
        tls: ssl.SSLContext | None = None,
        limits: ConnectionLimits = DEFAULT_LIMITS,
    ) -> None:
        self._sockets = list(sockets)
        self._server = _Uvicorn(
            uvicorn.Config(
                app,
                http=connection_type(limits),
                ws="websockets-sansio",
                ws_max_size=MESSAGE_BYTES_MAX,
                # Callers show signs of life themselves, and the system looks after quiet connections.
                ws_ping_interval=None,
                ws_per_message_deflate=False,
                loop="none",
                lifespan="off",
                log_config=None,
                # The application tells of its own failures; what is left are requests cut off by a stop.
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=round(limits.idle_timeout_s),
                backlog=BACKLOG,
            ),
            tls,
            limits.handshake_timeout_s,
        )

    async def renew_tls(self, tls: ssl.SSLContext | None) -> None:
        """Use `tls` for new connections, or none; those that are open go on as they are."""
        await self._server.renew_tls(tls)

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
