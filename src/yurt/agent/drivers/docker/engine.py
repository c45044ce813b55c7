"""A thin client of the Docker Engine's HTTP API."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from yurt.errors import YurtError
from yurt.import_later import aiohttp

DEFAULT_ENDPOINT = "unix:///var/run/docker.sock"
CALL_LIMIT_S = 60.0
CONNECT_LIMIT_S = 10.0
_LINE_BYTES_MAX = 1 << 20
_OK = range(200, 400)
_SWITCHED = 101
_PORT, _PORT_TLS = 2375, 2376

AnswerT = TypeVar("AnswerT")


class EngineUnreachable(YurtError):
    """No answer from the daemon."""

    def __init__(self, endpoint: str, reason: str) -> None:
        super().__init__(f"cannot reach the Docker daemon at {endpoint}: {reason}; check that it runs")


class EngineError(YurtError):
    """The daemon answered with an error; the text is the one Docker's own client shows."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"Error response from daemon: {message}")
        self.status = status

    @property
    def is_passing(self) -> bool:
        """Whether the fault is the daemon's, and may be gone the next time."""
        return self.status >= 500


class Tls(msgspec.Struct, frozen=True, kw_only=True):
    """Files for an encrypted connection."""

    cert: str = ""
    key: str = ""
    ca: str = ""


class Hijacked(msgspec.Struct, frozen=True):
    """A connection that has become the streams of a command."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Engine:
    """The daemon at `endpoint`. Holds no connection, so that it may come and go."""

    def __init__(self, endpoint: str = DEFAULT_ENDPOINT, tls: Tls | None = None) -> None:
        self.endpoint = endpoint
        self.tls = tls

    async def get(self, path: str, into: type[AnswerT], **params: str) -> AnswerT:
        """Ask for an object. Raises EngineError and EngineUnreachable, as all calls do."""
        async with self._request("GET", path, params) as answer:
            return msgspec.json.decode(await answer.read(), type=into)

    async def post(
        self,
        path: str,
        *,
        body: object = None,
        limit_s: float | None = CALL_LIMIT_S,
        **params: str,
    ) -> bytes:
        """Ask for something to be done; None as the limit waits for ever."""
        async with self._request("POST", path, params, body=body, limit_s=limit_s) as answer:
            return await answer.read()

    async def delete(self, path: str, **params: str) -> None:
        """Ask for something to be removed."""
        async with self._request("DELETE", path, params):
            return

    async def stream(
        self,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        data: AsyncIterator[bytes] | None = None,
        **params: str,
    ) -> AsyncGenerator[bytes, None]:
        """Post, and read the lines of the answer as they come; the caller sets the limit."""
        async with self._request("POST", path, params, headers=headers, data=data, limit_s=None) as answer:
            async for line in answer.content:
                yield line

    async def hijack(self, path: str, body: object) -> Hijacked:
        """Post, and keep the connection, which from then on carries raw bytes both ways."""
        data = msgspec.json.encode(body)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                reader, writer = await self._connect()
            try:
                async with asyncio.timeout(CALL_LIMIT_S):
                    writer.write(head.encode() + data)
                    await _read_switch(reader)
            except BaseException:
                writer.transport.abort()
                raise
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise EngineUnreachable(self.endpoint, str(error) or type(error).__name__) from error
        return Hijacked(reader, writer)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.endpoint.startswith("unix://"):
            return await asyncio.open_unix_connection(self.endpoint.removeprefix("unix://"))
        url = urlsplit(self._base)
        is_encrypted = url.scheme == "https"
        context = _ssl_context(self.tls or Tls()) if is_encrypted else None
        port = url.port or (_PORT_TLS if is_encrypted else _PORT)
        return await asyncio.open_connection(url.hostname, port, ssl=context)

    @asynccontextmanager
    async def _request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str],
        *,
        body: object = None,
        limit_s: float | None = CALL_LIMIT_S,
        **more: Any,  # noqa: ANN401 - handed on to aiohttp
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if body is not None:
            more["data"] = msgspec.json.encode(body)
            more["headers"] = {"Content-Type": "application/json"}
        try:
            self._check_socket()
            limits = aiohttp.ClientTimeout(total=limit_s, sock_connect=CONNECT_LIMIT_S)
            async with (
                aiohttp.ClientSession(
                    connector=self._connector(), timeout=limits, read_bufsize=_LINE_BYTES_MAX
                ) as session,
                session.request(method, f"{self._base}{path}", params=params, **more) as answer,
            ):
                if answer.status not in _OK:
                    raise EngineError(answer.status, _message(await answer.read()))
                yield answer
        except OSError as error:
            raise EngineUnreachable(self.endpoint, str(error)) from error
        except aiohttp.ClientError as error:
            raise EngineUnreachable(self.endpoint, str(error) or type(error).__name__) from error

    def _check_socket(self) -> None:
        """Look whether there can be a daemon at all: most machines have none, and need no client for it."""
        if self.endpoint.startswith("unix://"):
            os.stat(self.endpoint.removeprefix("unix://"))

    @property
    def _base(self) -> str:
        kind, _, address = self.endpoint.partition("://")
        if kind == "unix":
            return "http://docker"
        return f"{'https' if self.tls or kind == 'https' else 'http'}://{address}"

    def _connector(self) -> aiohttp.BaseConnector:
        if self.endpoint.startswith("unix://"):
            return aiohttp.UnixConnector(self.endpoint.removeprefix("unix://"))
        return aiohttp.TCPConnector(ssl=_ssl_context(self.tls) if self.tls else True)


def _ssl_context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=tls.ca or None)
    if tls.cert:
        context.load_cert_chain(tls.cert, tls.key or None)
    return context


async def _read_switch(reader: asyncio.StreamReader) -> None:
    """Read the answer to an upgrade. Raises EngineError unless it is a yes."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status = int(head.split(" ", 2)[1])
    if status == _SWITCHED:
        return
    lines = [line.partition(":") for line in head.splitlines()]
    length = next((value for name, _, value in lines if name.lower() == "content-length"), "0")
    raise EngineError(status, _message(await reader.readexactly(min(int(length), _LINE_BYTES_MAX))))


class _Failure(msgspec.Struct):
    message: str = ""


def _message(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Failure).message
    except msgspec.DecodeError:
        return body.decode(errors="replace").strip()
