"""The client: calls with the right scope, and answers decoded once."""

import http.client
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Concatenate, Generic, ParamSpec, TypeVar

import msgspec

from yurt.sdk.errors import ApiError, BadAnswer, ServerUnreachable
from yurt.sdk.exchange import Headers, HttpAnswer, HttpRequest
from yurt.sdk.settings import DEFAULT_ADDRESS, ClientSettings, TlsSettings
from yurt.sdk.streams import ByteStream, chunks_of
from yurt.sdk.transport import ANSWER_TIMEOUT_S, Param, Params, Transport, describe
from yurt.sdk.wire import decode

T = TypeVar("T")
P = ParamSpec("P")

DEFAULT_WAIT_S = 300.0
# The server adds up to a sixteenth of the wait at random; the rest is for the way there and back.
WAIT_SLACK_S = 60.0


class Answer(msgspec.Struct, Generic[T], frozen=True):
    """A decoded answer with what the headers say about it. `body` is the JSON text as it came."""

    value: T
    body: bytes
    index: int = 0
    next_token: str = ""


class Blocking(msgspec.Struct, frozen=True):
    """What reads wait for: that the index of what they read passes `index`, for `wait_s` at most."""

    index: int
    wait_s: float

    @property
    def params(self) -> dict[str, Param]:
        """How that is asked for. Index 0 would not wait at all."""
        if self.index <= 0:
            return {}
        return {"index": self.index, "wait": f"{int(self.wait_s * 1000)}ms"}

    @property
    def timeout_s(self) -> float:
        """How long the answer may take."""
        return self.wait_s * 17 / 16 + WAIT_SLACK_S


class Client:
    """Talks to one server or agent. Not for use by several threads at once: it has one connection."""

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
        settings = ClientSettings(
            address=address,
            token=token,
            namespace=namespace,
            region=region,
            basic_auth=basic_auth,
            tls=tls or TlsSettings(),
        )
        self._setup(settings, Transport(settings))

    @classmethod
    def of(cls, settings: ClientSettings) -> "Client":
        """Make a client from settings read elsewhere, such as the environment."""
        return cls(
            settings.address,
            token=settings.token,
            namespace=settings.namespace,
            region=settings.region,
            basic_auth=settings.basic_auth,
            tls=settings.tls,
        )

    def _setup(
        self, settings: ClientSettings, transport: Transport, *, blocking: Blocking | None = None
    ) -> None:
        self.settings = settings
        self.transport = transport
        self._blocking = blocking

    @property
    def address(self) -> str:
        """The server's address, without a trailing slash."""
        return self.transport.address

    @property
    def namespace(self) -> str:
        """The namespace sent with every call; empty leaves it to the server (`default`)."""
        return self.settings.namespace

    def within(self, *, namespace: str | None = None, region: str | None = None) -> "Client":
        """Give a client for another namespace or region that shares this one's connection."""
        return self._like(within(self.settings, namespace=namespace, region=region), blocking=self._blocking)

    def _like(self, settings: ClientSettings, *, blocking: Blocking | None) -> "Client":
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._setup(settings, self.transport, blocking=blocking)
        return other

    def get(self, path: str, into: type[T], /, **params: Param) -> Answer[T]:
        """Read. Raises `ApiError`, `ServerUnreachable` or `BadAnswer`."""
        if self._blocking is None:
            return self._call("GET", path, into, params=params)
        query = {**params, **self._blocking.params}
        return self._call("GET", path, into, params=query, timeout_s=self._blocking.timeout_s)

    def put(self, path: str, into: type[T], /, *, body: object = None, **params: Param) -> Answer[T]:
        """Write `body` as JSON (nothing when None) and decode the answer."""
        return self._call("PUT", path, into, params=params, body=body)

    def post(self, path: str, into: type[T], /, *, body: object = None, **params: Param) -> Answer[T]:
        """Like `put`, for the few routes that take POST only."""
        return self._call("POST", path, into, params=params, body=body)

    def put_bytes(self, path: str, into: type[T], body: bytes, /, **params: Param) -> Answer[T]:
        """Write bytes as they are, and decode the answer."""
        return self._call("PUT", path, into, params=params, body=body)

    def delete(self, path: str, into: type[T], /, *, body: object = None, **params: Param) -> Answer[T]:
        """Delete, and decode the answer."""
        return self._call("DELETE", path, into, params=params, body=body)

    def send(self, method: str, path: str, /, *, body: object = None, **params: Param) -> None:
        """Write where the answer does not matter."""
        self._raw(method, path, params=params, body=body)

    def watch(
        self,
        read: Callable[Concatenate["Client", P], Answer[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Iterator[Answer[T]]:
        """Yield what a call reads now, then again whenever it changes: `client.watch(jobs.read, "web")`.

        Endless: the caller breaks out of it. Each wait lasts `DEFAULT_WAIT_S`; one that saw no change
        yields nothing.
        """
        index = 0
        while True:
            blocking = Blocking(index, DEFAULT_WAIT_S)
            answer = read(self._like(self.settings, blocking=blocking), *args, **kwargs)
            if is_news(answer.index, since=index):
                yield answer
            index = index_to_wait_for(answer.index)

    def wait_for_change(
        self, path: str, into: type[T], /, *, index: int, wait_s: float, **params: Param
    ) -> Answer[T]:
        """Ask once with a blocking query: return when the index passes `index`, or after `wait_s`."""
        return self._like(self.settings, blocking=Blocking(index, wait_s)).get(path, into, **params)

    @contextmanager
    def stream(
        self, path: str, /, *, idle_timeout_s: float | None = None, **params: Param
    ) -> Iterator[ByteStream]:
        """Open an endless answer. The connection is closed when the block ends.

        `idle_timeout_s` is the longest wait for the next byte; None waits forever.
        """
        scoped = self.scope(params)
        url = self.transport.url(path, scoped)
        answer = self.transport.request("GET", path, params=scoped, headers={}, timeout_s=idle_timeout_s)
        try:
            if answer.status >= 400:
                raise ApiError(answer.status, answer.read().decode(errors="replace"))
            yield ByteStream(chunks_of(answer, url), answer.headers, url)
        finally:
            answer.close()
            self.transport.close()

    def exchange(
        self,
        method: str,
        path: str,
        /,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        **params: Param,
    ) -> tuple[int, Headers, bytes]:
        """Send bytes as they are and return status, headers and body, whatever the status is."""
        request = HttpRequest(
            method=method, path=path, params=self.scope(params), headers=headers or {}, body=body
        )
        answer = self.perform(request)
        return answer.status, answer.headers, answer.body

    def perform(self, request: HttpRequest) -> HttpAnswer:
        """Send one request and read the whole answer. Raises `ServerUnreachable`."""
        answer = self.transport.request(
            request.method,
            request.path,
            params=request.params,
            headers=request.headers,
            body=request.body,
            timeout_s=request.timeout_s,
        )
        url = self.transport.url(request.path, request.params)
        body = _read_all(answer, request.method, url)
        return HttpAnswer(status=answer.status, headers=answer.headers, body=body)

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self.transport.close()

    def scope(self, params: Params) -> dict[str, Param]:
        """Add region and namespace to `params` unless they are given."""
        scope = {"region": self.settings.region, "namespace": self.settings.namespace}
        return {**scope, **params}

    def _call(
        self,
        method: str,
        path: str,
        into: type[T],
        *,
        params: Params,
        body: object = None,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> Answer[T]:
        answer = self._raw(method, path, params=params, body=body, timeout_s=timeout_s)
        try:
            value = decode(answer.body, into)
        except msgspec.MsgspecError as error:
            raise BadAnswer(self.transport.url(path, self.scope(params)), str(error)) from error
        return Answer(
            value=value,
            body=answer.body,
            index=int(answer.headers.get("X-Nomad-Index") or 0),
            next_token=answer.headers.get("X-Nomad-NextToken") or "",
        )

    def _raw(
        self,
        method: str,
        path: str,
        *,
        params: Params,
        body: object = None,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> HttpAnswer:
        encoded = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        request = HttpRequest(
            method=method,
            path=path,
            params=self.scope(params),
            headers={} if encoded is None else {"Content-Type": "application/json"},
            body=encoded,
            timeout_s=timeout_s,
        )
        answer = self.perform(request)
        if answer.status >= 400:
            raise ApiError(answer.status, answer.body.decode(errors="replace"))
        return answer


def within(settings: ClientSettings, *, namespace: str | None, region: str | None) -> ClientSettings:
    """Settings for another namespace or region; None leaves what there is."""
    return msgspec.structs.replace(
        settings,
        namespace=settings.namespace if namespace is None else namespace,
        region=settings.region if region is None else region,
    )


def is_news(index: int, *, since: int) -> bool:
    """Whether an answer to a blocking query says something new."""
    return index != since or since == 0


def index_to_wait_for(index: int) -> int:
    """The index to block on after an answer of `index`.

    One that goes backwards follows a restored snapshot: start over from there. Index 0 would not block.
    """
    return max(index, 1)


def _read_all(answer: http.client.HTTPResponse, method: str, url: str) -> bytes:
    try:
        return answer.read()
    except (http.client.HTTPException, OSError) as error:
        raise ServerUnreachable(method=method, url=url, cause=describe(error)) from error
