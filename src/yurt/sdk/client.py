"""The client: calls with the right scope, and answers decoded once."""

import http.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar

import msgspec

from yurt.sdk.errors import ApiError, BadAnswer, ServerUnreachable
from yurt.sdk.settings import DEFAULT_ADDRESS, ClientSettings, TlsSettings
from yurt.sdk.streams import ByteStream
from yurt.sdk.transport import ANSWER_TIMEOUT_S, Param, Params, Transport, describe
from yurt.sdk.wire import decode

T = TypeVar("T")

DEFAULT_WAIT_S = 300.0
# The server adds up to a sixteenth of the wait at random; the rest is for the way there and back.
WAIT_SLACK_S = 60.0


class Answer(msgspec.Struct, Generic[T], frozen=True):
    """A decoded answer with what the headers say about it. `body` is the JSON text as it came."""

    value: T
    body: bytes
    index: int = 0
    next_token: str = ""


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

    def _setup(self, settings: ClientSettings, transport: Transport) -> None:
        self.settings = settings
        self.transport = transport

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
        settings = msgspec.structs.replace(
            self.settings,
            namespace=self.settings.namespace if namespace is None else namespace,
            region=self.settings.region if region is None else region,
        )
        other = Client.__new__(Client)
        other._setup(settings, self.transport)
        return other

    def get(self, path: str, into: type[T], /, **params: Param) -> Answer[T]:
        """Read. Raises `ApiError`, `ServerUnreachable` or `BadAnswer`."""
        return self._call("GET", path, into, params=params)

    def put(self, path: str, into: type[T], /, *, body: object = None, **params: Param) -> Answer[T]:
        """Write `body` as JSON (nothing when None) and decode the answer."""
        return self._call("PUT", path, into, params=params, body=body)

    def post(self, path: str, into: type[T], /, *, body: object = None, **params: Param) -> Answer[T]:
        """Like `put`, for the few routes that take POST only."""
        return self._call("POST", path, into, params=params, body=body)

    def delete(self, path: str, into: type[T], /, *, body: object = None, **params: Param) -> Answer[T]:
        """Delete, and decode the answer."""
        return self._call("DELETE", path, into, params=params, body=body)

    def send(self, method: str, path: str, /, *, body: object = None, **params: Param) -> None:
        """Write where the answer does not matter."""
        self._raw(method, path, params=params, body=body)

    def watch(
        self,
        path: str,
        into: type[T],
        /,
        *,
        wait_s: float = DEFAULT_WAIT_S,
        index: int = 0,
        **params: Param,
    ) -> Iterator[Answer[T]]:
        """Yield the answer now, then again whenever it changes. Endless: the caller breaks out of it.

        A wait of `wait_s` that saw no change yields nothing.
        """
        while True:
            answer = self.wait_for_change(path, into, index=index, wait_s=wait_s, **params)
            if answer.index != index or index == 0:
                yield answer
            # An index that goes backwards follows a restored snapshot: start over from there. Index 0
            # would not block at all.
            index = max(answer.index, 1)

    def wait_for_change(
        self, path: str, into: type[T], /, *, index: int, wait_s: float, **params: Param
    ) -> Answer[T]:
        """Ask once with a blocking query: return when the index passes `index`, or after `wait_s`."""
        query: dict[str, Param] = dict(params)
        if index > 0:
            query |= {"index": index, "wait": f"{int(wait_s * 1000)}ms"}
        return self._call("GET", path, into, params=query, timeout_s=wait_s * 17 / 16 + WAIT_SLACK_S)

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
            yield ByteStream(answer, url)
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
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Send bytes as they are and return status, headers and body, whatever the status is."""
        scoped = self.scope(params)
        url = self.transport.url(path, scoped)
        answer = self.transport.request(method, path, params=scoped, headers=headers or {}, body=body)
        return answer.status, dict(answer.getheaders()), _read_all(answer, method, url)

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
        text, headers = self._raw(method, path, params=params, body=body, timeout_s=timeout_s)
        try:
            value = decode(text, into)
        except msgspec.MsgspecError as error:
            raise BadAnswer(self.transport.url(path, self.scope(params)), str(error)) from error
        return Answer(
            value=value,
            body=text,
            index=int(headers.get("X-Nomad-Index") or 0),
            next_token=headers.get("X-Nomad-NextToken", ""),
        )

    def _raw(
        self,
        method: str,
        path: str,
        *,
        params: Params,
        body: object = None,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> tuple[bytes, Mapping[str, str]]:
        scoped = self.scope(params)
        url = self.transport.url(path, scoped)
        encoded = None if body is None else msgspec.json.encode(body)
        headers = {} if encoded is None else {"Content-Type": "application/json"}
        answer = self.transport.request(
            method, path, params=scoped, headers=headers, body=encoded, timeout_s=timeout_s
        )
        text = _read_all(answer, method, url)
        if answer.status >= 400:
            raise ApiError(answer.status, text.decode(errors="replace"))
        return text, dict(answer.getheaders())


def _read_all(answer: http.client.HTTPResponse, method: str, url: str) -> bytes:
    try:
        return answer.read()
    except (http.client.HTTPException, OSError) as error:
        raise ServerUnreachable(method=method, url=url, cause=describe(error)) from error
