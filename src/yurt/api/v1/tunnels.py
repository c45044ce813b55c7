"""Connections to the ports of allocations: /v1/client/allocation/<id>/tunnel, over a WebSocket."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import msgspec

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.routes import ANY_METHOD, Route
from yurt.api.v1.exec_sessions import EXEC, NO_WEBSOCKET
from yurt.api.v1.local_node import ClientDeps, checked_alloc_id, known_alloc, node_of_alloc
from yurt.api.websocket import WebSocket, WebSocketGone
from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedPort
from yurt.observe.logger import get_logger

CONNECT_LIMIT_S = 10.0
READ_BYTES_MAX = 64 * 1024
PORT_MAX = 65_535

logger = get_logger("tunnel")


class Target(NamedTuple):
    """Where a port of an allocation is reached from its node."""

    host: str
    port: int


class TunnelMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Bytes of the connection, or that one side has sent its last."""

    data: bytes = b""
    close: bool = False


class TunnelHandlers:
    """The handlers of tunnels."""

    def __init__(self, deps: ClientDeps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/client/allocation/{alloc_id}/tunnel",
                handlers=dict.fromkeys(ANY_METHOD, self.refuse),
                websocket=self.connect,
                summary="Connect to a port of an allocation, over a WebSocket",
                # Whoever may run commands in a task may as well talk to it.
                needs=needs.namespace(EXEC, of=self._deps.namespace_of.alloc),
            ),
        )

    async def refuse(self, _call: Call) -> Answer:
        """/v1/client/allocation/<id>/tunnel as a plain request."""
        raise HttpError(500, NO_WEBSOCKET)

    async def connect(self, call: Call, socket: WebSocket) -> None:
        """/v1/client/allocation/<id>/tunnel."""
        alloc = known_alloc(self._deps, checked_alloc_id(call.path["alloc_id"]))
        node_of_alloc(self._deps, alloc)
        if alloc.is_client_terminal:
            raise HttpError(400, f"allocation {alloc.id} does not run any more: it is {alloc.client_status}")
        target = find_target(alloc, call.query.get("port", ""))
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                reader, writer = await asyncio.open_connection(target.host, target.port)
        except (OSError, TimeoutError) as error:
            why = str(error) or f"no answer within {CONNECT_LIMIT_S:.0f} s"
            raise HttpError(502, f"nobody answers at {target.host}:{target.port}: {why}") from None
        logger.info("tunnel.opened", alloc_id=alloc.id, port=target.port)
        try:
            await _carry(socket, reader, writer)
        finally:
            writer.close()
            logger.info("tunnel.closed", alloc_id=alloc.id, port=target.port)


def find_target(alloc: Allocation, name: str) -> Target:
    """Find a port by its label or number. Raises HttpError.

    A label, or the number that a port has on the host or inside, must be the allocation's own: an allocation
    on the host's network is no way to the host's other ports. One with a network of its own is open to any.
    """
    ports = alloc.resources.shared.ports or ()
    own = alloc.network_status.address if alloc.network_status is not None else ""
    for port in ports:
        if name in (port.label, str(port.value), str(port.to or port.value)):
            return Target(own, port.to or port.value) if own else Target(port.host_ip, port.value)
    if not name.isascii() or not name.isdigit() or not 0 < int(name) <= PORT_MAX or not own:
        raise HttpError(400, f'"{name}" is no port of allocation {alloc.id}: {_listed(ports)}')
    return Target(own, int(name))


def _listed(ports: tuple[AllocatedPort, ...]) -> str:
    if not ports:
        return "it has none; give its group a network block with a port"
    return "it has " + ", ".join(f"{port.label} ({port.to or port.value})" for port in ports)


async def _carry(socket: WebSocket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy both ways until both sides have sent their last, or the caller is gone."""
    directions = [
        asyncio.ensure_future(_from_task(socket, reader)),
        asyncio.ensure_future(_to_task(socket, writer)),
    ]
    try:
        # The caller goes on receiving after its last byte; with the task's last byte all is said.
        await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        for direction in directions:
            if direction.done():
                direction.result()
    except (WebSocketGone, OSError):
        return
    finally:
        for direction in directions:
            direction.cancel()
        await asyncio.gather(*directions, return_exceptions=True)


async def _from_task(socket: WebSocket, reader: asyncio.StreamReader) -> None:
    while data := await reader.read(READ_BYTES_MAX):
        await socket.send(msgspec.json.encode(TunnelMessage(data=data)))
    await socket.send(msgspec.json.encode(TunnelMessage(close=True)))


async def _to_task(socket: WebSocket, writer: asyncio.StreamWriter) -> None:
    while True:
        received = await socket.receive()
        try:
            message = msgspec.json.decode(received, type=TunnelMessage)
        except msgspec.DecodeError as error:
            raise HttpError(400, f"failed to read a message: {error}") from None
        if message.data:
            writer.write(message.data)
            await writer.drain()
        if message.close and writer.can_write_eof():
            writer.write_eof()
