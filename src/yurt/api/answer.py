"""An answer, and how it goes over the wire."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from yurt.api.call import Call
from yurt.api.rows import ROWS_PER_SLICE, Rows
from yurt.api.streamed import StreamedResponse

JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain; charset=utf-8"

# A low level: answers are made once and read once, on the same machine as often as not.
COMPRESSION_LEVEL = 1

# What zlib writes around the compressed bytes.
_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}

_encode = msgspec.json.Encoder().encode


class Answer(msgspec.Struct, kw_only=True):
    """What a handler gives back: `body` becomes JSON, unless it is bytes, Rows or a stream.

    `index` is set on answers that are valid for an index of State; reads also say how fresh they are.
    """

    body: Any = None
    status: int = 200
    index: int | None = None
    is_read: bool = False
    knows_leader: bool = True
    next_token: str = ""
    content_type: str = JSON_TYPE
    headers: Mapping[str, str] = {}
    stream: AsyncIterator[bytes] | None = None
    is_compressible: bool = True


def read_answer(body: Any, index: int, *, next_token: str = "") -> Answer:  # noqa: ANN401 - any JSON
    """The answer to a read."""
    return Answer(body=body, index=index, is_read=True, next_token=next_token)


def text_answer(status: int, text: str) -> Answer:
    """A plain text, as errors are."""
    return Answer(body=text.encode(), status=status, content_type=TEXT_TYPE)


def empty_answer(index: int | None = None) -> Answer:
    """A success without anything to say."""
    return Answer(body=b"", index=index, content_type="")


def render(answer: Answer, call: Call) -> Response:
    """Turn an answer into a response, pretty or compressed as the caller asks."""
    headers = {"Vary": "Accept-Encoding", **answer.headers}
    if answer.index is not None:
        headers["X-Nomad-Index"] = str(answer.index)
        if answer.is_read:
            headers["X-Nomad-KnownLeader"] = "true" if answer.knows_leader else "false"
            headers["X-Nomad-LastContact"] = "0"
        if answer.next_token:
            headers["X-Nomad-NextToken"] = answer.next_token
    coding = call.content_coding if answer.is_compressible else ""
    stream, body = answer.stream, b""
    if stream is None:
        pretty = call.wants_pretty and not isinstance(answer.body, bytes)
        if isinstance(answer.body, Rows) and len(answer.body) > ROWS_PER_SLICE and not pretty:
            stream = answer.body.json_parts()
        else:
            body = _body(answer.body, pretty=pretty)
    if answer.content_type:
        headers["Content-Type"] = answer.content_type
    if coding and (stream is not None or body):
        headers["Content-Encoding"] = coding
    if stream is not None:
        parts = _compressed(stream, coding) if coding else stream
        return StreamedResponse(parts, status_code=answer.status, headers=headers)
    if coding and body:
        squeeze = _compressor(coding)
        body = squeeze.compress(body) + squeeze.flush()
    return Response(body, status_code=answer.status, headers=headers)


def _body(body: Any, *, pretty: bool) -> bytes:  # noqa: ANN401 - any JSON
    if isinstance(body, bytes):
        return body
    encoded = body.json() if isinstance(body, Rows) else _encode(body)
    return msgspec.json.format(encoded, indent=4) + b"\n" if pretty else encoded


def _compressor(coding: str) -> zlib._Compress:
    return zlib.compressobj(COMPRESSION_LEVEL, wbits=_WINDOWS[coding])


async def _compressed(parts: AsyncIterator[bytes], coding: str) -> AsyncIterator[bytes]:
    """Compress a stream so that each part can be read as soon as it comes."""
    squeeze = _compressor(coding)
    async for part in parts:
        yield squeeze.compress(part) + squeeze.flush(zlib.Z_SYNC_FLUSH)
    yield squeeze.flush()
