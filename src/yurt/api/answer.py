"""An answer, and how it goes over the wire."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from yurt.api.call import Call

JSON_TYPE = "application/json"
TEXT_TYPE = "text/plain; charset=utf-8"

# A low level: answers are made once and read once, on the same machine as often as not.
GZIP_LEVEL = 1

_encode = msgspec.json.Encoder().encode


class Answer(msgspec.Struct, kw_only=True):
    """What a handler gives back: `body` becomes JSON, unless it is bytes or a stream.

    `index` is set on answers that are valid for an index of State; reads also say how fresh they are.
    """

    body: Any = None
    status: int = 200
    index: int | None = None
    is_read: bool = False
    next_token: str = ""
    content_type: str = JSON_TYPE
    headers: Mapping[str, str] = {}
    stream: AsyncIterator[bytes] | None = None


def read_answer(body: Any, index: int, *, next_token: str = "") -> Answer:  # noqa: ANN401 - any JSON
    """The answer to a read."""
    return Answer(body=body, index=index, is_read=True, next_token=next_token)


def render(answer: Answer, call: Call | None) -> Response:
    """Turn an answer into a response, pretty or compressed as the caller asks."""
    headers = {"Vary": "Accept-Encoding", **answer.headers}
    if answer.index is not None:
        headers["X-Nomad-Index"] = str(answer.index)
        if answer.is_read:
            headers["X-Nomad-KnownLeader"] = "true"
            headers["X-Nomad-LastContact"] = "0"
        if answer.next_token:
            headers["X-Nomad-NextToken"] = answer.next_token
    if answer.stream is not None:
        return StreamingResponse(
            answer.stream, status_code=answer.status, headers=headers, media_type=answer.content_type
        )
    body = answer.body if isinstance(answer.body, bytes) else _encode(answer.body)
    if call is not None:
        if not isinstance(answer.body, bytes) and call.query.get("pretty", "0") != "0":
            body = msgspec.json.format(body, indent=4) + b"\n"
        if body and "gzip" in call.headers.get("accept-encoding", ""):
            body = gzip.compress(body, GZIP_LEVEL, mtime=0)
            headers["Content-Encoding"] = "gzip"
    headers["Content-Type"] = answer.content_type
    return Response(body, status_code=answer.status, headers=headers)


def text_answer(status: int, text: str) -> Answer:
    """A plain text, as errors are."""
    return Answer(body=text.encode(), status=status, content_type=TEXT_TYPE)
