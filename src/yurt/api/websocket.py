"""The server side of a WebSocket: whole text messages both ways, and failures as closing reasons."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
from starlette.types import Receive, Scope, Send

from yurt.api.errors import HttpError

# The longest message.
MESSAGE_BYTES_MAX = 1 << 20
FOREIGN_ORIGIN = "WebSockets are only open to pages of this server and to programs"
# The most that a closing reason may have.
REASON_BYTES_MAX = 123
CLOSE_POLICY, CLOSE_INTERNAL = 1008, 1011
HANDSHAKE_VERSION = 1
HANDSHAKE_PARAMETER = "ws_handshake"


class WebSocketGone(Exception):
    """The caller has hung up."""


class WebSocket:
    """One connection. One task may send while another receives."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    async def accept(self) -> None:
        """Agree to the upgrade."""
        assert (await self._receive())["type"] == "websocket.connect"
        await self._send({"type": "websocket.accept"})

    async def refuse(self, status: int, text: str) -> None:
        """Answer the upgrade as an ordinary request, instead of accepting it."""
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await self._send({"type": "websocket.http.response.start", "status": status, "headers": headers})
        await self._send({"type": "websocket.http.response.body", "body": text.encode()})

    async def receive(self) -> bytes:
        """Wait for a message. Raises WebSocketGone."""
        message = await self._receive()
        if message["type"] != "websocket.receive":
            raise WebSocketGone
        text = message.get("text")
        return text.encode() if text is not None else bytes(message["bytes"])

    async def send(self, message: bytes) -> None:
        """Send a text message; waits while the caller is slow to read. Raises WebSocketGone."""
        try:
            await self._send({"type": "websocket.send", "text": message.decode()})
        except OSError as error:  # uvicorn's word for a caller that is gone
            raise WebSocketGone from error

    async def fail(self, status: int, text: str) -> None:
        """End the connection for a reason, which an HTTP answer would tell with `status`."""
        code = CLOSE_INTERNAL if status == 500 else CLOSE_POLICY
        reason = text.encode()[:REASON_BYTES_MAX].decode(errors="ignore")
        try:
            await self._send({"type": "websocket.close", "code": code, "reason": reason})
        except OSError:
            return


def is_foreign_origin(scope: Scope) -> bool:
    """Whether the page of another site asks, which could use what its visitor's browser is trusted with."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin", b"").decode("latin-1")
    host = headers.get(b"host", b"").decode("latin-1")
    return bool(origin) and urlsplit(origin).netloc.lower() != host.lower()


class Handshake(msgspec.Struct, frozen=True):
    """The first message of callers that cannot set headers, as browsers."""

    version: int = 0
    auth_token: str = ""


async def read_token(socket: WebSocket, header_token: str) -> str:
    """Read the handshake; returns the caller's token. Raises HttpError and WebSocketGone."""
    try:
        handshake = msgspec.json.decode(await socket.receive(), type=Handshake)
    except msgspec.DecodeError as error:
        raise HttpError(400, f"failed to read the handshake message: {error}") from None
    if handshake.version != HANDSHAKE_VERSION:
        raise HttpError(400, f"unexpected handshake value: {handshake.version}")
    if header_token and handshake.auth_token != header_token:
        raise HttpError(400, "handshake auth token mismatched auth header token")
    return handshake.auth_token or header_token
