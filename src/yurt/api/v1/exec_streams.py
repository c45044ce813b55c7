"""Carrying the streams of an exec session over a WebSocket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from yurt.api.errors import HttpError
from yurt.api.websocket import WebSocket, WebSocketGone

if TYPE_CHECKING:
    from yurt.agent.drivers.session import Session

# Input that the command has not read yet; then the caller waits.
MESSAGES_WAITING_MAX = 16
# A command has ended, but others that it left behind hold its streams: they are not waited for longer.
QUIET_LIMIT_S = 0.5


class Input(msgspec.Struct, frozen=True):
    """What the command is to read, or that there is no more."""

    data: bytes | None = None
    close: bool = False


class TtySize(msgspec.Struct, frozen=True):
    """The size of the caller's terminal, in characters."""

    height: int = 0
    width: int = 0


class ClientMessage(msgspec.Struct, frozen=True):
    """A message of the caller's; an empty one is a sign of life."""

    stdin: Input | None = None
    tty_size: TtySize | None = None


async def carry(socket: WebSocket, session: Session) -> None:
    """Copy both ways until the command has ended or the caller is gone; the session is then closed.

    Raises HttpError for a command that could not be run, and for messages that are none.
    """
    outputs = [_Output(socket, session, stream) for stream in session.streams]
    waiting: asyncio.Queue[ClientMessage] = asyncio.Queue(MESSAGES_WAITING_MAX)
    receiving = asyncio.ensure_future(_receive(socket, waiting))
    ended = asyncio.ensure_future(session.wait())
    feeding = asyncio.ensure_future(_feed(session, waiting))
    pumps = [asyncio.ensure_future(output.pump()) for output in outputs]
    try:
        await asyncio.wait((receiving, feeding, ended), return_when=asyncio.FIRST_COMPLETED)
        for task in (receiving, feeding):
            if task.done():
                task.result()
        result = ended.result()
        while not all(pump.done() for pump in pumps):
            before = sum(output.chunks for output in outputs)
            await asyncio.wait((receiving, *pumps), timeout=QUIET_LIMIT_S)
            is_moving = any(output.is_sending for output in outputs)
            if not is_moving and before == sum(output.chunks for output in outputs):
                break
        if result.error and not any(output.chunks for output in outputs):
            raise HttpError(500, result.error)
        for stream in reversed(session.streams):
            await _tell(socket, {stream: {"close": True}})
        told = {"exit_code": result.exit_code, "signal": result.signal, "oom_killed": result.oom_killed}
        await _tell(
            socket, {"exited": True, "result": {name: value for name, value in told.items() if value}}
        )
    except WebSocketGone:
        return
    finally:
        tasks: tuple[asyncio.Future[Any], ...] = (receiving, feeding, ended, *pumps)
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await session.close()


class _Output:
    """One stream of the command's, on its way to the caller."""

    def __init__(self, socket: WebSocket, session: Session, stream: str) -> None:
        self._socket = socket
        self._session = session
        self._stream = stream
        self.chunks = 0
        self.is_sending = False

    async def pump(self) -> None:
        while data := await self._session.read(self._stream):
            self.chunks += 1
            self.is_sending = True
            await _tell(self._socket, {self._stream: {"data": data}})
            self.is_sending = False


async def _receive(socket: WebSocket, waiting: asyncio.Queue[ClientMessage]) -> None:
    while True:
        message = await socket.receive()
        try:
            await waiting.put(msgspec.json.decode(message, type=ClientMessage))
        except msgspec.DecodeError as error:
            raise HttpError(400, f"failed to read a message: {error}") from None


async def _feed(session: Session, waiting: asyncio.Queue[ClientMessage]) -> None:
    is_open = True
    while True:
        message = await waiting.get()
        if message.tty_size is not None:
            await session.resize(height=message.tty_size.height, width=message.tty_size.width)
        if message.stdin is not None and is_open:
            if message.stdin.data:
                await session.write(message.stdin.data)
            if message.stdin.close:
                is_open = False
                await session.close_input()


async def _tell(socket: WebSocket, message: dict[str, Any]) -> None:
    await socket.send(msgspec.json.encode(message))
