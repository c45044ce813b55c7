"""The API for tasks: the whole HTTP API on a socket in each task's directory, never without a token."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from yurt.api.call import token_of
from yurt.api.connection import connection_type
from yurt.api.connection_limits import DEFAULT_LIMITS
from yurt.server.auth import Authority, TokenRefused, is_secret_id
from yurt.server.identities import Identities

JWT_DOTS = 2
# What the audit log and the limits call the other end.
CLIENT = ("task-api", 0)
# What nodes send along with calls of their tasks.
TASK_HEADER = b"x-yurt-task-api"

UNAUTHORIZED = (401, "Unauthorized")
FORBIDDEN = (403, "Forbidden")
UNREADABLE = (500, "Server error authenticating request\n")


class TaskApiApp:
    """The API, for callers that show a token somebody stands behind, be access controlled or not."""

    def __init__(self, app: ASGIApp, authority: Authority, identities: Identities) -> None:
        self._app = app
        self._authority = authority
        self._identities = identities

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one WebSocket."""
        headers = Headers(scope=scope)
        refusal = self._refusal(token_of(headers))
        if refusal is not None:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": refusal[1]})
                return
            await _text(refusal)(scope, receive, send)
            return
        # Both ends are on one machine: compressing would only cost.
        kept = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self._app({**scope, "headers": kept, "client": CLIENT}, receive, send)

    def _refusal(self, secret: str) -> tuple[int, str] | None:
        if not secret:
            return UNAUTHORIZED
        if is_secret_id(secret):
            try:
                known = self._authority.is_enabled and self._authority.caller(secret) is not None
            except TokenRefused:
                known = False
            return None if known else FORBIDDEN
        if secret.count(".") != JWT_DOTS:
            return UNREADABLE
        now = self._identities.now()
        return None if self._identities.verify(secret, now) is not None else FORBIDDEN


class TaskRelay:
    """The API for tasks of a node without a server: servers are asked, and told that a task asks."""

    def __init__(self, door: ASGIApp) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand one request on, if it has a token; whether that is good is the servers' to say."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008, "reason": "not served on this node"})
            return
        if not token_of(Headers(scope=scope)):
            await _text(UNAUTHORIZED)(scope, receive, send)
            return
        kept = [
            (name, value) for name, value in scope["headers"] if name not in (b"accept-encoding", TASK_HEADER)
        ]
        headers = [*kept, (TASK_HEADER, b"true")]
        await self._door({**scope, "headers": headers, "client": CLIENT}, receive, send)


def is_from_task(scope: Scope) -> bool:
    """Whether a node says that a task of its own asks. Saying so only ever makes us stricter."""
    return any(name == TASK_HEADER for name, _ in scope["headers"])


def _text(refusal: tuple[int, str]) -> PlainTextResponse:
    return PlainTextResponse(refusal[1], status_code=refusal[0])


class TaskApiDoor:
    """Serves an application on connections that one task makes, as many as a client may have."""

    def __init__(self, app: ASGIApp) -> None:
        self._config = uvicorn.Config(
            app,
            http=connection_type(DEFAULT_LIMITS),
            ws="websockets-sansio",
            ws_ping_interval=None,
            loop="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=round(DEFAULT_LIMITS.idle_timeout_s),
        )
        self._config.load()
        self._state = ServerState()

    async def serve(self, connection: socket.socket) -> None:
        """Serve an accepted connection; returns once that has begun."""
        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(self._protocol, connection)

    def close(self) -> None:
        """Close what is open."""
        for connection in list(self._state.connections):
            if connection.transport is not None:
                connection.transport.close()

    def _protocol(self) -> asyncio.Protocol:
        protocol = self._config.http_protocol_class(  # type: ignore[call-arg]
            config=self._config, server_state=self._state, app_state={}
        )
        assert isinstance(protocol, asyncio.Protocol)
        return protocol
