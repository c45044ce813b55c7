"""A load of HTTP requests over keep-alive connections, light enough not to be what is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import httptools
import msgspec
import uvloop


class LoadResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a load took, and how long single requests did."""

    requests: int
    failures: int
    seconds: float
    latencies_ms: list[float]

    @property
    def per_second(self) -> float:
        """Requests answered a second."""
        return self.requests / self.seconds

    def percentile_ms(self, share: float) -> float:
        """The latency that `share` of the requests did not exceed."""
        ordered = sorted(self.latencies_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def request(method: str, path: str, body: bytes = b"") -> bytes:
    """An HTTP/1.1 request, ready to send."""
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def load(host: str, port: int, requests: list[bytes], connections: int) -> LoadResult:
    """Send `requests` over `connections` connections, each as soon as the one before is answered."""
    return uvloop.run(_load(host, port, requests, connections))


async def _load(host: str, port: int, requests: list[bytes], connections: int) -> LoadResult:
    loop = asyncio.get_running_loop()
    pending = iter(requests)
    clients = [
        (await loop.create_connection(lambda: _Client(pending, loop.create_future()), host, port))[1]
        for _ in range(connections)
    ]
    began = time.perf_counter()
    for client in clients:
        client.send_next()
    await asyncio.gather(*(client.done for client in clients))
    return LoadResult(
        requests=len(requests),
        failures=sum(client.failures for client in clients),
        seconds=time.perf_counter() - began,
        latencies_ms=[ms for client in clients for ms in client.latencies_ms],
    )


class _Client(asyncio.Protocol):
    """One connection: one request at a time."""

    def __init__(self, pending: Iterator[bytes], done: asyncio.Future[None]) -> None:
        self._pending = pending
        self._parser = httptools.HttpResponseParser(self)
        self._sent_at = 0.0
        self._transport: asyncio.WriteTransport | None = None
        self.done = done
        self.failures = 0
        self.latencies_ms: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]  # uvloop's own class

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        self.latencies_ms.append((time.perf_counter() - self._sent_at) * 1e3)
        if self._parser.get_status_code() >= 400:
            self.failures += 1
        self._parser = httptools.HttpResponseParser(self)
        self.send_next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionResetError("the server closed the connection"))

    def send_next(self) -> None:
        """Send the next request, or end when there is none."""
        assert self._transport is not None
        following = next(self._pending, None)
        if following is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(following)
