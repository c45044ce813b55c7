"""One request and its whole answer, whoever carries them."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from yurt.sdk.transport import ANSWER_TIMEOUT_S, Params


class Headers(Protocol):
    """Headers by name, in any case."""

    def get(self, name: str, /) -> str | None:
        """The value of a header, if it is there."""


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be sent. `params` hold region and namespace already."""

    method: str
    path: str
    params: Params
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    timeout_s: float = ANSWER_TIMEOUT_S


class HttpAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    headers: Headers
    body: bytes
