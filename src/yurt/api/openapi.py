"""The description of an API, made from its route table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from yurt.api.answer import JSON_TYPE
from yurt.api.parameters import NAMESPACE, PRETTY, REGION, Parameter
from yurt.api.routes import Route
from yurt.model.go_types import FoldedAs, GoInteger
from yurt.version import VERSION

DOCUMENTED = ("GET", "PUT", "POST", "DELETE")
REF = "#/components/schemas/{name}"

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_ERRORS = {
    "400": "The request cannot be read, or asks for what cannot be.",
    "403": "The token does not allow this.",
    "404": "There is no such thing.",
    "405": "The route does not take this method.",
    "500": "The request failed. As in Nomad, this is also the answer to many mistakes of callers.",
}
_INDEX_HEADERS = {
    "X-Nomad-Index": "The index of State that the answer is valid for.",
    "X-Nomad-KnownLeader": "Whether the answering server knows a leader.",
    "X-Nomad-LastContact": "Milliseconds since the answering server heard from the leader.",
    "X-Nomad-NextToken": "Where the next page starts, if there is one.",
}


class Bodies:
    """The schemas of all bodies of a route table, and the components they refer to."""

    def __init__(self, routes: Iterable[Route]) -> None:
        types = [
            kind
            for route in routes
            for method in DOCUMENTED
            for kind in (request_of(route, method), response_of(route, method))
            if kind is not None
        ]
        # What a member is checked as has a schema, too.
        types += [marker.struct for kind in types for marker, _ in _marked(kind, FoldedAs)]
        schemas, self.components = msgspec.json.schema_components(types, ref_template=REF)
        self._of = {_key(kind): schema for kind, schema in zip(types, schemas, strict=True)}
        for kind in {_key(kind): kind for kind in types}.values():
            self._refine(kind)

    def of(self, kind: Any) -> Any:  # noqa: ANN401 - a JSON schema of any type
        """The schema of a type."""
        return self._of[_key(kind)]

    def _refine(self, kind: Any) -> None:  # noqa: ANN401 - any type
        """Tell what only our own markers know: what a free object is read as, and how large numbers get."""
        for marker, name in _marked(kind, FoldedAs):
            members = self.components[kind.__name__]["properties"]
            members[name] = {"anyOf": [self.of(marker.struct), {"type": "null"}]}
        for marker, name in _marked(kind, GoInteger):
            told = self.components[kind.__name__]["properties"][name]
            if told.get("type") == "integer":
                told |= {"minimum": marker.minimum, "maximum": marker.maximum}


def openapi_document(routes: Iterable[Route]) -> dict[str, Any]:
    """Describe routes as an OpenAPI 3.1 document."""
    documented = list(routes)
    bodies = Bodies(documented)
    paths: dict[str, dict[str, Any]] = {}
    for route in documented:
        for method in documented_methods(route):
            operations = paths.setdefault(route.documented_path(method), {})
            operations[method.lower()] = _operation(route, method, bodies)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Yurt",
            "version": VERSION,
            "description": "Nomad's HTTP API as Yurt serves it. Errors are plain text.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": bodies.components,
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-Nomad-Token"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{}, {"token": []}, {"bearer": []}],
    }


def request_of(route: Route, method: str) -> Any:  # noqa: ANN401 - any type
    """The type of a request's body, if the method takes one."""
    return None if method == "GET" else _by_method(route.request, method)


def response_of(route: Route, method: str) -> Any:  # noqa: ANN401 - any type
    """The type of a success's body, if it is JSON. Said once, it is what is read, or what a write gives."""
    if isinstance(route.response, dict) or method == "GET" or "GET" not in route.handlers:
        return _by_method(route.response, method)
    return None


def _by_method(told: Any, method: str) -> Any:  # noqa: ANN401 - any type
    return told.get(method) if isinstance(told, dict) else told


def documented_methods(route: Route) -> list[str]:
    """The methods that a route is described with: of one that does not look at them, what it is read by."""
    methods = [method for method in DOCUMENTED if method in route.handlers]
    is_any = len(methods) == len(DOCUMENTED) and len(set(route.handlers.values())) == 1
    return ["GET"] if is_any and route.request is None else methods


def _operation(route: Route, method: str, bodies: Bodies) -> dict[str, Any]:
    path = route.documented_path(method)
    in_path = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": f"The {name.replace('_', ' ')}; it may hold slashes.",
            "schema": {"type": "string", "minLength": 1},
        }
        for name in _PLACEHOLDER.findall(path)
    ]
    common: tuple[Parameter, ...] = (PRETTY,) if route.is_local else (REGION, NAMESPACE, PRETTY)
    told = {parameter.name: parameter for parameter in (*common, *route.parameters(method))}
    operation: dict[str, Any] = {
        "operationId": _operation_id(method, path),
        "tags": [_tag(path)],
        "summary": route.summary,
        "parameters": [*in_path, *(parameter.document() for parameter in told.values())],
        "responses": _responses(route, method, bodies),
    }
    request = request_of(route, method)
    if request is not None:
        operation["requestBody"] = {"content": {JSON_TYPE: {"schema": bodies.of(request)}}}
    if route.streams:
        operation["x-streams"] = True
    return operation


def _responses(route: Route, method: str, bodies: Bodies) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Success"}
    response = response_of(route, method)
    if response is not None:
        success["content"] = {JSON_TYPE: {"schema": bodies.of(response)}}
    elif route.content_type and (route.content_type != JSON_TYPE or route.streams) and method == "GET":
        success["content"] = {route.content_type: {"schema": {}}}
    if not route.is_local:
        success["headers"] = {
            name: {"description": told, "required": False, "schema": {"type": "string"}}
            for name, told in _INDEX_HEADERS.items()
        }
    failures = {status: _failure(told) for status, told in _ERRORS.items()}
    return {
        str(route.status_of_success(method)): success,
        **failures,
        "default": _failure("Another failure, as plain text."),
    }


def _failure(told: str) -> dict[str, Any]:
    return {"description": told, "content": {"text/plain": {"schema": {"type": "string"}}}}


def _operation_id(method: str, path: str) -> str:
    words = re.findall(r"\w+", path.removeprefix("/v1").replace("-", "_"))
    return "_".join((method.lower(), *words)) if words else method.lower()


def _tag(path: str) -> str:
    words = [word for word in path.split("/") if word and word != "v1"]
    return words[0] if words else "ui"


def _key(kind: Any) -> Any:  # noqa: ANN401 - any type
    return kind if isinstance(kind, type) else str(kind)


def _marked(kind: Any, marker: type[Any]) -> Iterator[tuple[Any, str]]:  # noqa: ANN401 - any type
    """The members of a Struct that are annotated with a marker of a kind, and that marker."""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return
    for field in msgspec.structs.fields(kind):
        for note in getattr(field.type, "__metadata__", ()):
            if isinstance(note, marker):
                yield note, field.encode_name
