"""/v1/search: finding things by the beginning of their ids, or by a part of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from yurt.api import needs
from yurt.api.answer import Answer, read_answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import WRITE, Route
from yurt.api.v1.read_meta import ReadMeta
from yurt.api.v1.search_access import Scope, allowed_contexts
from yurt.api.v1.search_jobs import FuzzyMatch, Hit, best_first, job_hits, position
from yurt.model.wire import Wire
from yurt.state.state import State

FUZZY_OBJECTS_MAX = 20
ALL = "all"
CONTEXTS = (
    "allocs",
    "jobs",
    "nodes",
    "node_pools",
    "evals",
    "deployment",
    "plugins",
    "volumes",
    "scaling_policy",
    "vars",
    "namespaces",
    "host_volumes",
)
# Searched by the beginning of a UUID.
_BY_UUID = frozenset(("allocs", "evals", "deployment", "nodes", "host_volumes"))
# A search by a part of the name still looks here by the beginning of the id.
_PREFIX_IN_FUZZY = ("evals", "deployment", "volumes", "host_volumes", "scaling_policy")
_HEX = frozenset("0123456789abcdefABCDEF-")
_UUID_LENGTH = 36


class SearchRequest(Wire, frozen=True, kw_only=True):
    """What the ids to find begin with."""

    prefix: str = ""
    context: str = ""


class FuzzySearchRequest(Wire, frozen=True, kw_only=True):
    """What the names to find contain."""

    text: str = ""
    context: str = ""


class SearchAnswer(ReadMeta, frozen=True, kw_only=True):
    """The ids that were found, by context, and where there are more."""

    matches: dict[str, list[str] | None]
    truncations: dict[str, bool]


class FuzzySearchAnswer(ReadMeta, frozen=True, kw_only=True):
    """What was found, by context, and where there is more."""

    matches: dict[str, list[FuzzyMatch]]
    truncations: dict[str, bool]


class SearchHandlers:
    """The handlers of /v1/search."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/search",
                handlers=dict.fromkeys(WRITE, self.search),
                summary="Find things by the beginning of their ids",
                response=SearchAnswer,
                needs=needs.KNOWN_CALLER,
                request=SearchRequest,
            ),
            Route(
                path="/v1/search/fuzzy",
                handlers=dict.fromkeys(WRITE, self.fuzzy),
                summary="Find things by a part of their names",
                response=FuzzySearchAnswer,
                needs=needs.KNOWN_CALLER,
                request=FuzzySearchRequest,
            ),
        )

    async def search(self, call: Call) -> Answer:
        """PUT /v1/search."""
        request: SearchRequest = await call.read(SearchRequest)
        matches: dict[str, list[str] | None] = {}
        cut: dict[str, bool] = {}
        most = self._deps.server.settings.search.ids_max
        for context in allowed_contexts(call, _asked(request.context)):
            if context in _BY_UUID and not _is_uuid_prefix(request.prefix):
                continue
            found = _ids(self._deps.state, context, Scope(call), request.prefix)
            shown = list(islice(found, most + 1))
            cut[context] = len(shown) > most
            matches[context] = shown[:most] or None
        index = self._deps.state.index
        return read_answer(SearchAnswer(matches=matches, truncations=cut, index=index), index)

    async def fuzzy(self, call: Call) -> Answer:
        """PUT /v1/search/fuzzy."""
        request: FuzzySearchRequest = await call.read(FuzzySearchRequest)
        contexts = _asked(request.context)
        limits = self._deps.server.settings.search
        if not limits.is_fuzzy:
            raise HttpError(500, "fuzzy search is not enabled")
        if len(request.text) < limits.text_length_min:
            raise HttpError(
                500,
                f"fuzzy search query must be at least {limits.text_length_min} characters, "
                f"got {len(request.text)}",
            )
        matches: dict[str, list[FuzzyMatch]] = {}
        cut: dict[str, bool] = {}
        for context in allowed_contexts(call, contexts):
            if context in _PREFIX_IN_FUZZY:
                is_searchable = context not in _BY_UUID or _is_uuid_prefix(request.text)
                ids = _ids(self._deps.state, context, Scope(call), request.text) if is_searchable else ()
                found = [FuzzyMatch(id=one) for one in islice(ids, limits.ids_max + 1)]
                cut[context] = len(found) > limits.ids_max
                matches[context] = found[: limits.ids_max]
                continue
            hits = _hits(self._deps.state, context, Scope(call), request.text.lower())
            for name, own in hits.items():
                cut[name] = len(own) > limits.names_max
                matches[name] = best_first(own)[: limits.names_max]
        index = self._deps.state.index
        return read_answer(FuzzySearchAnswer(matches=matches, truncations=cut, index=index), index)


def _asked(context: str) -> tuple[str, ...]:
    """The contexts to search. Raises HttpError for one that there is not."""
    if context == ALL:
        return CONTEXTS
    if context not in CONTEXTS:
        listed = " ".join(CONTEXTS)
        raise HttpError(
            500, f"context must be one of [{listed}] or 'all' for all contexts; got \"{context}\""
        )
    return (context,)


def _is_uuid_prefix(text: str) -> bool:
    return len(text) <= _UUID_LENGTH and set(text) <= _HEX


def _ids(state: State, context: str, scope: Scope, prefix: str) -> Iterator[str]:
    """The ids in a context that begin so, in the order of the table."""
    is_here = scope.has
    ids: dict[str, Callable[[], Iterable[str]]] = {
        "allocs": lambda: (alloc.id for alloc in state.allocs if is_here(alloc.namespace)),
        "jobs": lambda: (job.id for job in state.jobs if is_here(job.namespace)),
        "nodes": lambda: (node.id for node in state.nodes),
        "node_pools": lambda: (pool.name for pool in state.node_pools if scope.has_node_pool(pool.name)),
        "evals": lambda: (one.id for one in state.evals if is_here(one.namespace)),
        "deployment": lambda: (one.id for one in state.deployments if is_here(one.namespace)),
        "scaling_policy": lambda: (one.id for one in state.scaling_policies if scope.has_policy(one)),
        "host_volumes": lambda: (
            one.id for one in state.host_volumes if scope.has_host_volume(one.namespace)
        ),
        "namespaces": lambda: (one.name for one in state.namespaces if scope.has_namespace(one.name)),
        "vars": lambda: sorted(one.path for one in state.variables if scope.has_variable(one.key)),
    }
    # What there is nothing of has no ids.
    found = ids.get(context, tuple)()
    wanted = prefix.lower() if context in _BY_UUID else prefix
    return (one for one in found if one.startswith(wanted))


def _hits(state: State, context: str, scope: Scope, text: str) -> dict[str, list[Hit]]:
    """What a search by a part of names finds; a search of jobs also looks inside them."""
    if context == "jobs":
        jobs = (job for job in state.jobs if scope.has(job.namespace))
        return job_hits(jobs, text)
    named: dict[str, Callable[[], Iterable[tuple[str, tuple[str, ...] | None]]]] = {
        "allocs": lambda: (
            (alloc.name, (alloc.namespace, alloc.id)) for alloc in state.allocs if scope.has(alloc.namespace)
        ),
        "nodes": lambda: ((node.name, (node.id,)) for node in state.nodes),
        "node_pools": lambda: (
            (pool.name, (pool.name,)) for pool in state.node_pools if scope.has_node_pool(pool.name)
        ),
        "namespaces": lambda: ((one.name, None) for one in state.namespaces if scope.has_namespace(one.name)),
        "vars": lambda: (
            (one.path, (one.namespace, one.path)) for one in state.variables if scope.has_variable(one.key)
        ),
    }
    found = (
        Hit(at=at, name=name, scope=scope)
        for name, scope in named.get(context, tuple)()
        if (at := position(name, text)) >= 0
    )
    hits = list(islice(found, FUZZY_OBJECTS_MAX))
    return {context: hits} if hits else {}
