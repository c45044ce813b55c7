"""A client that calls an ASGI application without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec
from starlette.types import Message

from yurt.api.app import HttpApp
from yurt.api.call import Call


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back; `headers` holds the last of each name, in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


def a_scope(method: str, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The scope of a request, with the path decoded as servers do."""
    path, _, query = url.partition("?")
    return {
        "type": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
    }


class _Body:
    """The parts of a request's body; None means that the caller hangs up there."""

    def __init__(self, parts: Sequence[bytes | None]) -> None:
        self._parts = list(parts) or [b""]

    async def receive(self) -> Message:
        if not self._parts:
            await asyncio.Event().wait()  # an open connection says nothing more
        part = self._parts.pop(0)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(self._parts)}


def a_call(
    url: str = "/", *body: bytes | None, method: str = "GET", headers: Mapping[str, str] | None = None
) -> Call:
    """A call as a handler gets it."""
    return Call(a_scope(method, url, headers), _Body(body).receive, {})


async def request(
    app: HttpApp,
    method: str,
    url: str,
    *body: bytes | None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Send one request and gather the reply."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await app(a_scope(method, url, headers), _Body(body).receive, send)
    start, *rest = sent
    return Reply(
        status=start["status"],
        headers={name.decode(): value.decode("latin-1") for name, value in start["headers"]},
        body=b"".join(part.get("body", b"") for part in rest),
    )
