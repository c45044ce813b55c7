"""Having another agent serve a WebSocket, message by message."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping

from yarl import URL

from yurt.api.errors import HttpError
from yurt.api.forward import CONNECT_TIMEOUT_S, AgentUnreachable
from yurt.api.websocket import CLOSE_INTERNAL, MESSAGE_BYTES_MAX, WebSocket
from yurt.import_later import aiohttp

_CLOSE_NORMAL = 1000


async def relay_socket(
    socket: WebSocket, address: str, target: str, *, headers: Mapping[str, str], tls: ssl.SSLContext | None
) -> None:
    """Copy messages both ways until one side ends.

    Raises AgentUnreachable, WebSocketGone, and HttpError with the reason when the other agent gives one.
    """
    url = URL(f"{'http' if tls is None else 'https'}://{address}{target}", encoded=True)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        try:
            far = await session.ws_connect(
                url, headers=headers, ssl=True if tls is None else tls, max_msg_size=MESSAGE_BYTES_MAX
            )
        except aiohttp.WSServerHandshakeError as error:
            raise HttpError(error.status, f"the agent at {address} refuses: {error.message}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise AgentUnreachable(f"the agent at {address} does not answer: {error}") from error
        async with far:
            copies = [asyncio.ensure_future(_send(socket, far)), asyncio.ensure_future(_receive(socket, far))]
            try:
                await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
                for copy in copies:
                    if copy.done():
                        copy.result()
            finally:
                for copy in copies:
                    copy.cancel()
                await asyncio.gather(*copies, return_exceptions=True)


async def _send(socket: WebSocket, far: aiohttp.ClientWebSocketResponse) -> None:
    try:
        while True:
            await far.send_str((await socket.receive()).decode())
    except (aiohttp.ClientError, OSError):
        return  # told by the other direction, with its reason


async def _receive(socket: WebSocket, far: aiohttp.ClientWebSocketResponse) -> None:
    while True:
        message = await far.receive()
        if message.type is not aiohttp.WSMsgType.TEXT:
            break
        await socket.send(message.data.encode())
    if message.type is aiohttp.WSMsgType.CLOSE and message.data != _CLOSE_NORMAL:
        raise HttpError(500 if message.data == CLOSE_INTERNAL else 400, message.extra or "")
