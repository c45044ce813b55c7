"""A call: one request, with its parameters read as Nomad reads them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request
from starlette.types import Receive, Scope

from yurt.api.errors import HttpError
from yurt.model.acl.caller import OPEN_TO_ALL, Caller
from yurt.model.acl.permissions import Permissions
from yurt.model.decode import decode_body
from yurt.model.durations import parse_duration
from yurt.model.wire import DEFAULT_NAMESPACE

PEER_NAMES = "yurt.peer_names"
"""The key of a request's scope that holds the names of the caller's certificate, where it showed one."""

BODY_BYTES_MAX = 16 * 1024 * 1024
ALL_NAMESPACES = "*"
INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1
# In the order of preference.
CONTENT_CODINGS = ("gzip", "deflate")

_INTEGER = re.compile(r"[+-]?[0-9]+")
# Longer ones are out of range, leading zeros or not, and Python refuses to read them at some length.
_INTEGER_CHARS_MAX = 100

TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))

TOKEN_HEADER = "x-nomad-token"  # noqa: S105 (the name of a header)
TOKEN_HEADERS = (TOKEN_HEADER, "x-yurt-token")
_BEARER = "bearer"


class Call:
    """One request to one route. `path` holds what the route's placeholders matched.

    `caller` is who makes it, and `grants` says whether a namespace is one that the route's need is met
    in; both are set before the handler runs, where access is controlled.
    """

    def __init__(self, scope: Scope, receive: Receive, path: Mapping[str, str]) -> None:
        self._request = Request(scope, receive)
        self.path = path
        self.caller: Caller = OPEN_TO_ALL
        self.grants: Callable[[str], bool] = _granted
        self._body: bytes | None = None
        self._read: dict[type[Any], Any] = {}
        raw = scope["query_string"]
        self.pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True) if raw else []
        # Where a parameter stands twice, the first one counts.
        self.query: dict[str, str] = dict(reversed(self.pairs))

    @property
    def method(self) -> str:
        """GET, PUT, …"""
        return self._request.method

    @property
    def url_path(self) -> str:
        """The whole path, decoded."""
        path: str = self._request.scope["path"]
        return path

    @property
    def target(self) -> str:
        """The path and the query as they were sent."""
        raw: bytes = self._request.scope["raw_path"]
        return raw.decode("latin-1") + (f"?{self.raw_query}" if self.raw_query else "")

    @property
    def raw_query(self) -> str:
        """The query as it was sent."""
        raw: bytes = self._request.scope["query_string"]
        return raw.decode("latin-1")

    @property
    def headers(self) -> Mapping[str, str]:
        """The request's headers, by name in any case."""
        return self._request.headers

    @property
    def remote_host(self) -> str:
        """The address that the caller has; empty where it has none."""
        client: tuple[str, int] | None = self._request.scope.get("client")
        return client[0] if client else ""

    @property
    def remote_address(self) -> str:
        """The address and port that the caller has."""
        client: tuple[str, int] | None = self._request.scope.get("client")
        return join_host_port(*client) if client else ""

    @property
    def asked_at(self) -> str:
        """The address of this agent that the call came in on; empty where it has none."""
        server: tuple[str, int] | None = self._request.scope.get("server")
        return server[0] if server else ""

    @property
    def peer_names(self) -> tuple[str, ...]:
        """The names of the certificate that the caller showed; none without one."""
        names: tuple[str, ...] = self._request.scope.get(PEER_NAMES, ())
        return names

    @property
    def namespace(self) -> str:
        """The namespace the caller means."""
        return self.query.get("namespace") or DEFAULT_NAMESPACE

    @property
    def permissions(self) -> Permissions:
        """What the caller may do."""
        return self.caller.permissions

    @property
    def secret(self) -> str:
        """The token that was sent; empty without one."""
        return token_of(self._request.headers)

    def sees(self) -> Callable[[str], bool]:
        """Which namespaces a list shows: the one that is asked for, or all that the caller may list."""
        asked = self.namespace
        return self.grants if asked == ALL_NAMESPACES else asked.__eq__

    @property
    def region(self) -> str:
        """The region the caller means; empty for this one."""
        return self.query.get("region", "")

    @property
    def wants_pretty(self) -> bool:
        """Whether JSON is to be indented: the parameter's mere presence counts, unless it is 0."""
        return self.query.get("pretty", "0") != "0"

    @property
    def content_coding(self) -> str:
        """How the body may be compressed: gzip, deflate, or empty for not at all."""
        accepted = self._request.headers.get("accept-encoding", "")
        if not accepted or "upgrade" in self._request.headers:
            return ""
        return next((coding for coding in CONTENT_CODINGS if coding in accepted), "")

    @property
    def min_index(self) -> int:
        """The index that a blocking query waits to be exceeded; 0 answers at once."""
        text = self.query.get("index", "")
        if not text:
            return 0
        index = uint64(text)
        if index is None:
            raise HttpError(400, "Invalid index")
        return index

    @property
    def wait_s(self) -> float:
        """How long a blocking query may wait; 0 when the caller does not say."""
        text = self.query.get("wait", "")
        if not text:
            return 0.0
        try:
            return min(parse_duration(text), INT64_MAX) / 1e9
        except ValueError:
            raise HttpError(400, "Invalid wait time") from None

    def check_read(self) -> None:
        """Check what every read may carry. Raises HttpError."""
        stale = self.query.get("stale", "")
        if stale and stale not in TRUE and stale not in FALSE:
            raise HttpError(400, "Expect `true` or `false` for `stale` query string parameter")

    def values(self, name: str) -> list[str]:
        """All values of a parameter that may be repeated."""
        return [value for key, value in self.pairs if key == name]

    def flag(self, name: str, *, default: bool = False, status: int = 500) -> bool:
        """A boolean parameter; absent and empty are the default."""
        text = self.query.get(name, "")
        if not text:
            return default
        if text in TRUE or text in FALSE:
            return text in TRUE
        raise HttpError(
            status,
            f'Failed to parse value of "{name}" ({text}) as a bool: '
            f'strconv.ParseBool: parsing "{text}": invalid syntax',
        )

    def is_set(self, name: str) -> bool:
        """A boolean parameter where everything but a clear yes is a no."""
        return self.query.get(name, "") in TRUE

    def integer(self, name: str) -> int:
        """A whole number; absent and empty are 0."""
        text = self.query.get(name, "")
        if not text:
            return 0
        reason = "invalid syntax"
        if _INTEGER.fullmatch(text) is not None:
            if len(text) <= _INTEGER_CHARS_MAX and -INT64_MAX - 1 <= int(text) <= INT64_MAX:
                return int(text)
            reason = "value out of range"
        raise HttpError(
            500,
            f'Failed to parse value of "{name}" ({text}) as a int: strconv.Atoi: parsing "{text}": {reason}',
        )

    def unsigned(self, name: str, *, status: int = 500) -> int | None:
        """A whole number that is not negative; None if absent or empty."""
        text = self.query.get(name, "")
        if not text:
            return None
        number = uint64(text)
        if number is None:
            raise HttpError(
                status,
                f'Failed to parse value of "{name}" ({text}) as a uint64: '
                f'strconv.ParseUint: parsing "{text}": invalid syntax',
            )
        return number

    async def body(self) -> bytes:
        """The request's body, the same each time. Raises HttpError if it is too large."""
        if self._body is None:
            self._check_declared(BODY_BYTES_MAX)
            part, has_more = await self._part(0, BODY_BYTES_MAX)
            parts, size = [part], len(part)
            while has_more:
                part, has_more = await self._part(size, BODY_BYTES_MAX)
                parts.append(part)
                size += len(part)
            self._body = b"".join(parts)
        return self._body

    async def stream(self, bytes_max: int) -> AsyncIterator[bytes]:
        """The request's body as it comes. Raises HttpError once it is too large."""
        self._check_declared(bytes_max)
        size, has_more = 0, True
        while has_more:
            part, has_more = await self._part(size, bytes_max)
            size += len(part)
            if part:
                yield part

    def _check_declared(self, bytes_max: int) -> None:
        declared = self._request.headers.get("content-length", "")
        if declared.isdigit() and (uint64(declared) or 0) > bytes_max:
            raise _too_large(bytes_max)

    async def _part(self, size: int, bytes_max: int) -> tuple[bytes, bool]:
        """The part of the body that follows `size` bytes, and whether there are more."""
        message = await self._request.receive()
        if message["type"] != "http.request":
            raise HttpError(400, "unexpected EOF")
        part: bytes = message.get("body", b"")
        if size + len(part) > bytes_max:
            raise _too_large(bytes_max)
        return part, message.get("more_body", False)

    async def read(self, form: type[Any]) -> Any:  # noqa: ANN401 - an instance of `form`
        """The request's body as a Struct, the same each time. Raises BadRequestBody with Go's text."""
        assert issubclass(form, msgspec.Struct)
        if form not in self._read:
            self._read[form] = decode_body(await self.body(), form)
        return self._read[form]

    async def wait_until_gone(self) -> None:
        """Wait for the caller to hang up. A body that was not read before is lost."""
        while (await self._request.receive())["type"] != "http.disconnect":
            pass


def _too_large(bytes_max: int) -> HttpError:
    return HttpError(413, f"request body is larger than {bytes_max} bytes")


def join_host_port(host: str, port: int) -> str:
    """`host:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _granted(_namespace: str) -> bool:
    """Where access is not controlled, every namespace is shown."""
    return True


def token_of(headers: Mapping[str, str]) -> str:
    """The token that a request's headers carry; empty without one."""
    for name in TOKEN_HEADERS:
        given = headers.get(name, "").strip()
        if given:
            return given
    scheme, _, rest = headers.get("authorization", "").strip().partition(" ")
    words = rest.split()
    return words[0] if scheme.lower() == _BEARER and words else ""


def uint64(text: str) -> int | None:
    """The number that a text of plain digits means; None if it is none, or too large."""
    if not text.isascii() or not text.isdigit() or len(text) > _INTEGER_CHARS_MAX:
        return None
    number = int(text)
    return number if number <= UINT64_MAX else None
