"""The form of a route, and how a path finds its own."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from yurt.api.answer import JSON_TYPE, Answer
from yurt.api.call import Call
from yurt.api.needs import Need
from yurt.api.parameters import Parameter
from yurt.api.websocket import WebSocket
from yurt.observe.metrics import Metrics
from yurt.server.auth import Authority

Handler: TypeAlias = Callable[[Call], Awaitable[Answer]]
SocketHandler: TypeAlias = Callable[[Call, WebSocket], Awaitable[None]]

WRITE = ("PUT", "POST")
ANY_METHOD = ("GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "OPTIONS")


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the route table.

    `path` has at most one `{placeholder}`, which matches any text, slashes included: the action is
    found by what stands behind it. Routes of one prefix are tried in the order of the table.
    """

    path: str
    handlers: dict[str, Handler]
    summary: str
    # What callers must be allowed to do, for all methods or by method. A method for which nothing is said
    # is only for those who manage the cluster.
    needs: Need | Mapping[str, Need] | None = None
    # What serves the route as a WebSocket; the handlers answer requests that are none.
    websocket: SocketHandler | None = None
    # What a method that has no handler is answered with.
    wrong_method: tuple[int, str] = (405, "Invalid method")
    # The methods that pages of other origins may use.
    cors: tuple[str, ...] = ()
    # Whether the agent itself answers, whatever region the caller names.
    is_local: bool = False
    # What the API document says about the query and the bodies, for all methods or by method.
    takes: Sequence[Parameter] | Mapping[str, Sequence[Parameter]] = ()
    request: Any = None
    response: Any = None
    # What a success is, where it is not JSON; None for nothing at all.
    content_type: str | None = JSON_TYPE
    # Its status, for all methods or by method.
    success_status: int | Mapping[str, int] = 200
    # Whether an answer goes on until the caller hangs up.
    streams: bool = False
    # The path as people read it, for all methods or by method, where `path` matches more than they mean.
    documented: str | Mapping[str, str] = ""

    def documented_path(self, method: str) -> str:
        """The path that the API document shows for a method."""
        told = self.documented.get(method, "") if isinstance(self.documented, Mapping) else self.documented
        return told or self.path

    def status_of_success(self, method: str) -> int:
        """The status that the API document shows for a success of a method."""
        told = self.success_status
        return told.get(method, 200) if isinstance(told, Mapping) else told

    def parameters(self, method: str) -> Sequence[Parameter]:
        """The parameters that a method's query may have, besides those that all have."""
        return self.takes.get(method, ()) if isinstance(self.takes, Mapping) else self.takes

    def need(self, method: str) -> Need | None:
        """What callers of a method must be allowed to do; None where the table says nothing."""
        return self.needs.get(method) if isinstance(self.needs, Mapping) else self.needs


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """The route that a path belongs to, and what its placeholder matched."""

    route: Route
    values: dict[str, str]


_PATTERN = re.compile(r"^(?P<prefix>[^{]*)(?:\{(?P<name>\w+)\}(?P<suffix>.*))?$")


class RouteTable:
    """The only list of routes, the region they serve, where their use is counted, who knows the callers.

    Without an `authority` everybody may do everything.
    """

    def __init__(
        self,
        routes: Iterable[Route],
        *,
        region: str = "",
        metrics: Metrics | None = None,
        authority: Authority | None = None,
    ) -> None:
        self.routes = tuple(routes)
        self.region = region
        self.metrics = metrics
        self.authority = authority
        self._exact: dict[str, Route] = {}
        self._subtrees: dict[str, list[tuple[str, str, Route]]] = {}
        for route in self.routes:
            parsed = _PATTERN.match(route.path)
            assert parsed is not None, f"route {route.path} has more than one placeholder"
            if parsed["name"] is None:
                self._exact[route.path] = route
            else:
                subtree = self._subtrees.setdefault(parsed["prefix"], [])
                subtree.append((parsed["name"], parsed["suffix"], route))
        # The most specific prefix wins.
        self._prefixes = sorted(self._subtrees, key=len, reverse=True)

    def find(self, path: str) -> Match | None:
        """The route of `path`, if there is one."""
        route = self._exact.get(path)
        if route is not None:
            return Match(route=route, values={})
        for prefix in self._prefixes:
            if not path.startswith(prefix):
                continue
            rest = path[len(prefix) :]
            for name, suffix, candidate in self._subtrees[prefix]:
                if rest.endswith(suffix):
                    return Match(route=candidate, values={name: rest[: len(rest) - len(suffix)]})
        return None

    def is_subtree_root(self, path: str) -> bool:
        """Whether `path` lacks only its slash to be the root of a subtree."""
        return path + "/" in self._subtrees
