"""A listener with limits, in the test's own loop, and raw connections to it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator

from yurt.api.app import HttpApp
from yurt.api.connection_limits import ConnectionLimits
from yurt.api.http_server import HttpServer, bind

HANG_UP_TIMEOUT_S = 20.0


class Raw:
    """A connection on which anything can be said."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def say(self, data: bytes) -> None:
        """Send bytes."""
        self._writer.write(data)
        await self._writer.drain()

    async def head(self) -> str:
        """The head of an answer."""
        async with asyncio.timeout(HANG_UP_TIMEOUT_S):
            return (await self._reader.readuntil(b"\r\n\r\n")).decode()

    async def answer(self) -> tuple[int, str]:
        """The status and the body of an answer that gives its length."""
        head = await self.head()
        lines = head.lower().splitlines()
        length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length"))
        return int(head.split()[1]), (await self._reader.readexactly(length)).decode()

    async def rest(self) -> str:
        """All that comes until the server hangs up."""
        async with asyncio.timeout(HANG_UP_TIMEOUT_S):
            try:
                return (await self._reader.read(-1)).decode()
            except ConnectionError:
                return ""

    async def close(self) -> None:
        """Hang up."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


class Listener:
    """A port that an application is served on."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._open: list[Raw] = []

    async def connect(self) -> Raw:
        """Open a connection."""
        raw = Raw(*await asyncio.open_connection("127.0.0.1", self.port))
        self._open.append(raw)
        return raw

    async def close(self) -> None:
        """Close all connections."""
        for raw in self._open:
            await raw.close()


@contextlib.asynccontextmanager
async def listening(
    app: HttpApp, limits: ConnectionLimits, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Listener]:
    """Serve `app` for the length of the block."""
    sock = bind("127.0.0.1", 0, "ports.http")
    stop = asyncio.Event()
    serving = asyncio.ensure_future(HttpServer(app, [sock], limits=limits, tls=tls).serve(stop, 5.0))
    listener = Listener(sock.getsockname()[1])
    try:
        yield listener
    finally:
        await listener.close()
        stop.set()
        await serving
        sock.close()
