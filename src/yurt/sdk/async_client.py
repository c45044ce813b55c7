"""The client for programs that run an event loop.

What can be called is defined once, in the functions of the modules beside this one: they take a `Client`
and say which request they make of their arguments, and what they make of its answer. Here such a function
is run once to learn its request, which is then made without blocking the loop, and once more to read the
answer. So a function may do nothing but ask the client it is given.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from yurt.sdk.client import (
    DEFAULT_WAIT_S,
    Answer,
    Blocking,
    Client,
    index_to_wait_for,
    is_news,
    within,
)
from yurt.sdk.errors import ApiError, ServerUnreachable
from yurt.sdk.exchange import HttpAnswer, HttpRequest
from yurt.sdk.settings import DEFAULT_ADDRESS, ClientSettings, TlsSettings
from yurt.sdk.streams import AsyncByteStream, ByteStream
from yurt.sdk.transport import CONNECT_TIMEOUT_S, Param, Transport, describe, query_text

T = TypeVar("T")
P = ParamSpec("P")

# Blocking queries and streams hold a connection each for as long as they last.
CONNECTIONS_MAX = 1000


class AsyncClient:
    """Talks to one server or agent. Any number of calls may be under way at once."""

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        token: str = "",
        namespace: str = "",
        region: str = "",
        basic_auth: str = "",
        tls: TlsSettings | None = None,
    ) -> None:
        """Connects at the first call. Raises `BadSettings` for an address that cannot be used."""
        self._setup(
            ClientSettings(
                address=address,
                token=token,
                namespace=namespace,
                region=region,
                basic_auth=basic_auth,
                tls=tls or TlsSettings(),
            ),
            _Connections(),
        )

    @classmethod
    def of(cls, settings: ClientSettings) -> "AsyncClient":
        """Make a client from settings read elsewhere, such as the environment."""
        client = cls.__new__(cls)
        client._setup(settings, _Connections())
        return client

    def _setup(self, settings: ClientSettings, connections: "_Connections") -> None:
        self.settings = settings
        self._transport = Transport(settings)
        self._connections = connections

    @property
    def address(self) -> str:
        """The server's address, without a trailing slash."""
        return self._transport.address

    def within(self, *, namespace: str | None = None, region: str | None = None) -> "AsyncClient":
        """Give a client for another namespace or region that shares this one's connections."""
        client = type(self).__new__(type(self))
        client._setup(within(self.settings, namespace=namespace, region=region), self._connections)
        return client

    async def call(
        self, function: Callable[Concatenate[Client, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Make a call: `await client.call(jobs.read, "web")`. Raises what the function raises."""
        return await self._call(None, function, *args, **kwargs)

    async def watch(
        self, read: Callable[Concatenate[Client, P], Answer[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncIterator[Answer[T]]:
        """Yield what a call reads now, then again whenever it changes. Endless, as `Client.watch` is."""
        index = 0
        while True:
            answer = await self._call(Blocking(index, DEFAULT_WAIT_S), read, *args, **kwargs)
            if is_news(answer.index, since=index):
                yield answer
            index = index_to_wait_for(answer.index)

    @asynccontextmanager
    async def stream(
        self,
        function: Callable[Concatenate[Client, P], AbstractContextManager[ByteStream]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> AsyncIterator[AsyncByteStream]:
        """Open an endless answer: `async with client.stream(allocs.stream_logs, …) as stream:`."""
        try:
            with function(RequestProbe(self.settings), *args, **kwargs):
                raise AssertionError("a function that streams opens a stream first")
        except RequestNeeded as needed:
            request = needed.request
        limits = aiohttp.ClientTimeout(
            total=None, sock_read=request.timeout_s or None, sock_connect=CONNECT_TIMEOUT_S
        )
        async with await self._open(request, limits) as answer:
            url = self._transport.url(request.path, request.params)
            if answer.status >= 400:
                raise ApiError(answer.status, (await answer.read()).decode(errors="replace"))
            yield AsyncByteStream(_chunks(answer, url), answer.headers, url)

    async def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        await self._connections.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _call(
        self,
        blocking: Blocking | None,
        function: Callable[Concatenate[Client, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        answers: list[HttpAnswer] = []
        while True:
            try:
                return function(RequestProbe(self.settings, blocking, answers), *args, **kwargs)
            except RequestNeeded as needed:
                request = needed.request
            answers.append(await self._perform(request))

    async def _perform(self, request: HttpRequest) -> HttpAnswer:
        limits = aiohttp.ClientTimeout(total=request.timeout_s, sock_connect=CONNECT_TIMEOUT_S)
        async with await self._open(request, limits) as answer:
            try:
                body = await answer.read()
            except (aiohttp.ClientError, OSError) as error:
                raise self._unreachable(request, error) from error
            return HttpAnswer(status=answer.status, headers=answer.headers, body=body)

    async def _open(self, request: HttpRequest, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        target = f"{self._connections.base(self.settings)}{request.path}{query_text(request.params)}"
        try:
            return await self._connections.session(self.settings).request(
                request.method,
                URL(target, encoded=True),
                data=request.body,
                headers={"Accept": "application/json", **self._transport.auth_headers(), **request.headers},
                timeout=limits,
                server_hostname=self.settings.tls.server_name or None,
                allow_redirects=False,
            )
        except (aiohttp.ClientError, OSError) as error:
            raise self._unreachable(request, error) from error

    def _unreachable(self, request: HttpRequest, error: Exception) -> ServerUnreachable:
        url = self._transport.url(request.path, request.params)
        return ServerUnreachable(method=request.method, url=url, cause=_cause(error))


class _Connections:
    """The connections of a client and of those made from it; opened when first needed."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    def base(self, settings: ClientSettings) -> str:
        """What precedes the path; a Unix socket has no host, but HTTP wants one."""
        return "http://localhost" if _unix_path(settings) else settings.address.rstrip("/")

    def session(self, settings: ClientSettings) -> aiohttp.ClientSession:
        """The session of the running loop. Raises `BadSettings` for TLS files that cannot be loaded."""
        if self._session is None or self._session.closed:
            path = _unix_path(settings)
            connector: aiohttp.BaseConnector
            if path:
                connector = aiohttp.UnixConnector(path, limit=CONNECTIONS_MAX)
            elif settings.address.startswith("https:"):
                connector = aiohttp.TCPConnector(limit=CONNECTIONS_MAX, ssl=settings.tls.context())
            else:
                connector = aiohttp.TCPConnector(limit=CONNECTIONS_MAX)
            self._session = aiohttp.ClientSession(connector=connector)
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


class RequestNeeded(BaseException):
    """A request whose answer a function needs to go on. No function of ours catches it."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.path)
        self.request = request


class RequestProbe(Client):
    """A client that has the answers to its first requests, and asks for the next."""

    def __init__(
        self, settings: ClientSettings, blocking: Blocking | None = None, answers: Sequence[HttpAnswer] = ()
    ) -> None:
        self._setup(settings, Transport(settings), blocking=blocking)
        self._answers = iter(answers)

    def perform(self, request: HttpRequest) -> HttpAnswer:
        """Give the next answer. Raises `RequestNeeded` when there is none yet."""
        answer = next(self._answers, None)
        if answer is None:
            raise RequestNeeded(request)
        return answer

    @contextmanager
    def stream(
        self, path: str, /, *, idle_timeout_s: float | None = None, **params: Param
    ) -> Iterator[ByteStream]:
        """Give the whole of an answer that ends. Raises `RequestNeeded` when it is not there yet."""
        request = HttpRequest(
            method="GET", path=path, params=self.scope(params), timeout_s=idle_timeout_s or 0.0
        )
        answer = self.perform(request)
        if answer.status >= 400:
            raise ApiError(answer.status, answer.body.decode(errors="replace"))
        yield ByteStream(iter([answer.body]), answer.headers, self.transport.url(path, request.params))


async def _chunks(answer: aiohttp.ClientResponse, url: str) -> AsyncIterator[bytes]:
    while True:
        try:
            chunk = await answer.content.readany()
        except TimeoutError as error:
            raise ServerUnreachable(method="GET", url=url, cause="the stream fell silent") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ServerUnreachable(method="GET", url=url, cause=_cause(error)) from error
        if not chunk:
            return
        yield chunk


def _cause(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError):
        return "the server closed the connection"
    return describe(error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error)


def _unix_path(settings: ClientSettings) -> str:
    parts = urlsplit(settings.address)
    return parts.netloc + parts.path if parts.scheme == "unix" else ""
