"""Every route of the API can be called through the SDK, by either client."""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import yurt.sdk
from tests.api.v1.served import served
from yurt.api.openapi import documented_methods
from yurt.sdk.async_client import RequestNeeded, RequestProbe
from yurt.sdk.settings import ClientSettings

# Web pages, what refuses whatever is asked, what only nodes ask of each other, and WebSockets, which have
# sessions of their own: `exec_session` and `tunnel`.
NOT_CALLED = {
    "/",
    "/ui/{page}",
    "/v1/client/fs/{action}",
    "/v1/client/allocation/{alloc_id}",
    "/v1/client/allocation/{alloc_id}/snapshot",
    "/v1/client/allocation/{alloc_id}/exec",
    "/v1/client/allocation/{alloc_id}/tunnel",
    "/v1/job/{job_id}/action",
    "/v1/operator/raft/{action}",
    "/v1/operator/keyring/{action}",
    "/v1/operator/utilization",
    "/v1/sentinel/policies",
    "/v1/sentinel/policy/{name}",
    "/v1/recommendation",
    "/v1/recommendations",
    "/v1/recommendations/apply",
    "/v1/recommendation/{recommendation_id}",
}
NOT_WRITTEN = {"/v1/operator/license"}


def _definitions() -> Iterator[Callable[..., Any]]:
    """The functions that define calls."""
    for module in pkgutil.iter_modules(yurt.sdk.__path__):
        members = vars(importlib.import_module(f"yurt.sdk.{module.name}"))
        for name, member in members.items():
            if not inspect.isfunction(member) or name.startswith("_"):
                continue
            first = next(iter(inspect.signature(member).parameters.values()), None)
            if first is not None and first.name == "client" and "Async" not in str(first.annotation):
                yield member


def _example(parameter: inspect.Parameter) -> Any:
    told = str(parameter.annotation)
    for word, value in (
        ("Mapping", {"ID": "x"}),
        ("Body", {"ID": "x"}),
        ("BinaryIO", io.BytesIO(b"x")),
        ("bytes", b"x"),
        ("Sequence[tuple", [("default", "x")]),
        ("Sequence", ("x",)),
        ("tuple", ("x",)),
        ("str", "x"),
        ("bool", True),
        ("float", 1.0),
        ("int", 1),
    ):
        if word in told:
            return value
    return None


def _request(define: Callable[..., Any], *, with_defaults: bool) -> tuple[str, str] | None:
    """The method and path that a call with examples as arguments makes."""
    positional, named = [], {}
    for parameter in list(inspect.signature(define).parameters.values())[1:]:
        if with_defaults and parameter.default is not inspect.Parameter.empty:
            continue
        if parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            positional.append(_example(parameter))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[parameter.name] = _example(parameter)
    try:
        made = define(RequestProbe(ClientSettings()), *positional, **named)
        if hasattr(made, "__enter__"):
            made.__enter__()
        elif inspect.isgenerator(made):
            next(made)
    except RequestNeeded as needed:
        return needed.request.method, unquote(needed.request.path)
    except (TypeError, AttributeError):
        return None  # not a call of the API: it takes a session, a socket, a stream
    return None


async def test_every_route_can_be_called() -> None:
    api = await served()
    called = set()
    for define in _definitions():
        for with_defaults in (True, False):
            made = _request(define, with_defaults=with_defaults)
            match = api.table.find(made[1]) if made is not None else None
            if made is not None and match is not None:
                called.add((match.route.path, made[0]))
    missing = [
        (route.path, method)
        for route in api.table.routes
        for method in documented_methods(route)
        if route.path not in NOT_CALLED
        and not (route.path in NOT_WRITTEN and method != "GET")
        and not (method == "POST" and "PUT" in route.handlers)
        and not _is_called(route.handlers, route.path, method, called)
    ]
    assert not missing


def _is_called(handlers: Any, path: str, method: str, called: set[tuple[str, str]]) -> bool:
    if (path, method) in called:
        return True
    # Where the method is not looked at, any of them is the call.
    return len(set(handlers.values())) == 1 and any((path, other) in called for other in handlers)
