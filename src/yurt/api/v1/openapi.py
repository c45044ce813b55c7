"""/v1/openapi.json: the routes of this API, made from the table they are served from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.routes import Route
from yurt.version import VERSION

PATH = "/v1/openapi.json"
_DOCUMENTED = ("GET", "PUT", "POST", "DELETE")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


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
            ),
        )

    async def read(self, _call: Call) -> Answer:
        """GET /v1/openapi.json."""
        return Answer(body=self._encoded)

    @cached_property
    def _encoded(self) -> bytes:
        return msgspec.json.encode(openapi_document(self._routes))


def openapi_document(routes: Iterable[Route]) -> dict[str, Any]:
    """Describe routes as an OpenAPI 3.1 document."""
    documented = list(routes)
    types = [kind for route in documented for kind in (route.request, route.response) if kind is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    told = iter(schemas)
    paths: dict[str, dict[str, Any]] = {}
    for route in documented:
        request = next(told) if route.request is not None else None
        response = next(told) if route.response is not None else None
        paths.setdefault(route.path, {}).update(_operations(route, request, response))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Yurt",
            "version": VERSION,
            "description": "Nomad's HTTP API as Yurt serves it. Errors are plain text.",
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _operations(route: Route, request: Any, response: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON schemas
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PLACEHOLDER.findall(route.path)
    ]
    operations: dict[str, Any] = {}
    for method in _DOCUMENTED:
        if method not in route.handlers:
            continue
        answer: dict[str, Any] = {"description": "Success"}
        if response is not None and (method == "GET" or "GET" not in route.handlers):
            answer["content"] = {"application/json": {"schema": response}}
        operation: dict[str, Any] = {
            "summary": route.summary,
            "responses": {"200": answer, "default": {"description": "An error, as plain text"}},
        }
        if parameters:
            operation["parameters"] = parameters
        if request is not None and method != "GET":
            operation["requestBody"] = {"content": {"application/json": {"schema": request}}}
        operations[method.lower()] = operation
    return operations
