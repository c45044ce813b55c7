"""/v1/openapi.json: the routes of this API, made from the table they are served from."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.openapi import openapi_document
from yurt.api.routes import Route

PATH = "/v1/openapi.json"


class OpenApiHandlers:
    """The handlers of the API's own description."""

    def __init__(self) -> None:
        self._routes: tuple[Route, ...] = ()

    def describe(self, routes: Iterable[Route]) -> None:
        """Say which routes there are."""
        self._routes = tuple(routes)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path=PATH,
                handlers={"GET": self.read},
                summary="Describe this API",
                needs=needs.ANYONE,
                is_local=True,
                response=dict[str, Any],
            ),
        )

    async def read(self, _call: Call) -> Answer:
        """GET /v1/openapi.json."""
        return Answer(body=self._encoded)

    @cached_property
    def _encoded(self) -> bytes:
        return msgspec.json.encode(openapi_document(self._routes))
