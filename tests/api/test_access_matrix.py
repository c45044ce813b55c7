"""Every route with and without each capability: with it the call is served, without it nothing happens."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest

from tests.api.guarded import JOB, NODE, OTHER, POOL, TEAM, Guarded, guarded, owned
from yurt.api.needs import (
    All,
    Anyone,
    Checked,
    InArea,
    InNamespace,
    InNodePool,
    KnownCaller,
    Management,
    Need,
    OperatorCapability,
)
from yurt.api.routes import Route
from yurt.model.acl.capabilities import LEVELS, NAMESPACE_CAPABILITIES, OPERATOR_CAPABILITIES

# Their answers never end; that they begin is enough.
STREAMS = ("/v1/event/stream", "/v1/agent/monitor")
# What paths of the tests name: things of the namespace that tokens are for.
VALUES = {
    "job_id": JOB,
    "alloc_id": owned(TEAM).alloc,
    "eval_id": owned(TEAM).eval,
    "deployment_id": owned(TEAM).deployment,
    "policy_id": owned(TEAM).policy,
    "node_id": NODE,
}
NAMES = {"/v1/node/pool": POOL, "/v1/namespace": TEAM, "/v1/service": f"front/{owned(TEAM).service}"}
# What the query says where it decides what is needed.
QUERIES = {"/v1/volumes": "type=csi", "/v1/event/stream": "topic=Job"}
# Checks of their own, by route: rules that are enough, and rules that only look as if they were.
ENOUGH: dict[str, tuple[str, ...]] = {
    "GET /v1/allocation/{alloc_id}": ('namespace "team" { capabilities = ["read-job"] }',),
    "DELETE /v1/job/{job_id}": (
        'namespace "team" { capabilities = ["submit-job"] }',
        'namespace "team" { capabilities = ["deregister-job"] }',
        'namespace "team" { capabilities = ["purge-job"] }',
    ),
    "GET /v1/event/stream": ('namespace "team" { capabilities = ["read-job"] }',),
    "GET /v1/namespace/{name}": ('namespace "team" { capabilities = ["list-jobs"] }',),
    "GET /v1/scaling/policies": (
        'namespace "team" { capabilities = ["list-scaling-policies"] }',
        'namespace "team" { capabilities = ["list-jobs", "read-job"] }',
    ),
    "GET /v1/scaling/policy/{policy_id}": (
        'namespace "team" { capabilities = ["read-scaling-policy"] }',
        'namespace "team" { capabilities = ["list-jobs", "read-job"] }',
    ),
    "GET /v1/volumes": ('namespace "team" { capabilities = ["csi-list-volume"] }',),
}
NOT_ENOUGH: dict[str, tuple[str, ...]] = {
    "GET /v1/scaling/policies": (
        'namespace "team" { capabilities = ["list-jobs"] }',
        'namespace "team" { capabilities = ["read-job"] }',
    ),
    "GET /v1/event/stream": ('namespace "team" { capabilities = ["list-jobs"] }',),
}
FOREIGN = f'namespace "{OTHER}" {{ policy = "write" }}\nnode_pool "x" {{ policy = "write" }}'
# The answers that hide what is there, where a plain refusal would show it.
HIDDEN = {"GET /v1/allocation/{alloc_id}": (500, f'Unknown allocation "{owned(TEAM).alloc}"')}


class Case(msgspec.Struct, frozen=True):
    """A call and rules that are enough for it, or not."""

    method: str
    route: Route
    rules: str
    is_allowed: bool

    @property
    def name(self) -> str:
        return f"{self.method} {self.route.path}"


def _cases(route: Route, method: str, need: Need | None) -> Iterator[tuple[str, bool]]:
    """Rules for a need, and whether they are enough."""
    match need:
        case InNamespace(any_of=any_of):
            for capability in any_of:
                yield f'namespace "{TEAM}" {{ capabilities = ["{capability}"] }}', True
                yield f'namespace "te*" {{ capabilities = ["{capability}"] }}', True
                yield f'namespace "{OTHER}" {{ capabilities = ["{capability}"] }}', False
                # The rule for exactly this namespace counts, not the wider one beside it.
                yield _denied(f'namespace "*" {{ capabilities = ["{capability}"] }}'), False
            rest = sorted(NAMESPACE_CAPABILITIES - {"deny", *any_of, *_bringing(any_of)})
            yield f'namespace "{TEAM}" {{ capabilities = {msgspec.json.encode(rest).decode()} }}', False
        case InArea(area=area, level=level):
            words = LEVELS[area]
            for word in words:
                yield f'{area} {{ policy = "{word}" }}', words.index(word) >= words.index(level)
            yield f'{area} {{ policy = "deny" }}', False
        case OperatorCapability(capability=capability):
            yield f'operator {{ capabilities = ["{capability}"] }}', True
            rest = sorted(OPERATOR_CAPABILITIES - {"deny", capability})
            yield f"operator {{ capabilities = {msgspec.json.encode(rest).decode()} }}", False
        case InNodePool(capability=capability):
            yield f'node_pool "{POOL}" {{ capabilities = ["{capability}"] }}', True
            yield f'node_pool "x" {{ capabilities = ["{capability}"] }}', False
        case All(needs=needs):
            enough = [
                [rules for rules, is_enough in _cases(route, method, one) if is_enough] for one in needs
            ]
            yield "\n".join(options[0] for options in enough), True
            for missing in range(len(enough)):
                yield "\n".join(one[0] for at, one in enumerate(enough) if at != missing), False
        case Checked():
            yield from ((rules, True) for rules in ENOUGH.get(f"{method} {route.path}", ()))
            yield from ((rules, False) for rules in NOT_ENOUGH.get(f"{method} {route.path}", ()))
    if not isinstance(need, (Anyone, KnownCaller)):
        yield "", False
        yield FOREIGN, False


def _denied(rules: str) -> str:
    return f'{rules}\nnamespace "{TEAM}" {{ policy = "deny" }}'


def _bringing(any_of: tuple[str, ...]) -> list[str]:
    """Capabilities that bring one of these with them."""
    wide = [f"host-volume-{one}" for one in ("write", "register", "create")]
    return wide if any(one.startswith("host-volume") for one in any_of) else []


def _url(route: Route) -> str:
    def value(found: re.Match[str]) -> str:
        prefix = route.path[: found.start()].rstrip("/")
        return VALUES.get(found[1]) or NAMES.get(prefix, "x")

    query = f"namespace={TEAM}&{QUERIES.get(route.path, '')}"
    return re.sub(r"{(\w+)}", value, route.path) + "?" + query


def _body(route: Route, method: str) -> object:
    if method not in ("PUT", "POST", "DELETE"):
        return None
    if route.path == "/v1/validate/job":
        return {"Job": {"Namespace": TEAM}}
    return {"Name": POOL} if "node/pool" in route.path else {}


async def _is_refused(api: Guarded, case: Case, secret: str) -> bool:
    before = api.server.state.index
    reply = await api.ask(secret, case.method, _url(case.route), _body(case.route, case.method))
    refused = HIDDEN.get(case.name, (403, "Permission denied"))
    if (reply.status, reply.body) != (refused[0], refused[1].encode()):
        return False
    assert api.server.state.index == before, f"{case.name} was refused and did something"
    return True


async def test_each_capability_opens_what_it_is_for_and_nothing_else() -> None:
    api = await guarded()
    wrong: list[str] = []
    count = 0
    for route in api.table.routes:
        for method in route.handlers:
            for rules, is_allowed in _cases(route, method, route.need(method)):
                case = Case(method, route, rules, is_allowed)
                if is_allowed and route.path in STREAMS:
                    continue
                count += 1
                # What is served may change things, so each call that may do so gets things as they were.
                if is_allowed and method != "GET":
                    api = await guarded()
                if await _is_refused(api, case, await api.token(rules) if rules else "") == is_allowed:
                    wrong.append(f"{case.name} with {rules!r}: {'refused' if is_allowed else 'not refused'}")
    assert not wrong, "\n".join(wrong)
    assert count > 1000


async def test_the_simple_dialect_asks_for_the_same() -> None:
    api = await guarded()
    wrong: list[str] = []
    for route in api.simple_table.routes:
        for method in route.handlers:
            for rules, is_allowed in _cases(route, method, route.need(method)):
                if is_allowed and method != "GET":
                    api = await guarded()
                secret = await api.token(rules) if rules else ""
                before = api.server.state.index
                reply = await api.ask_simply(secret, method, _url(route), _body(route, method))
                if (reply.status in (401, 403)) == is_allowed:
                    wrong.append(f"{method} {route.path} with {rules!r}: {reply.status}")
                elif not is_allowed and api.server.state.index != before:
                    wrong.append(f"{method} {route.path} with {rules!r} was refused and did something")
    assert not wrong, "\n".join(wrong)


async def test_unknown_tokens_open_nothing_that_needs_any() -> None:
    api = await guarded()
    unknown = api.server.context.new_secret()
    for route in api.table.routes:
        for method in route.handlers:
            need = route.need(method)
            if isinstance(need, Anyone):
                continue
            case = Case(method, route, "", False)
            reply = await api.ask(unknown, method, _url(route), _body(route, method))
            assert (reply.status, reply.text) == (403, "Permission denied"), case.name


async def test_management_is_refused_nothing() -> None:
    api = await guarded()
    for route in api.table.routes:
        for method in route.handlers:
            if route.path in STREAMS or route.path == "/v1/operator/snapshot":
                continue
            reply = await api.ask(api.root, method, _url(route), _body(route, method))
            assert reply.status != 403, f"{method} {route.path}"


@pytest.mark.parametrize("path", STREAMS)
async def test_streams_are_refused_before_they_begin(path: str) -> None:
    api = await guarded()
    reply = await api.ask("", "GET", path)
    assert (reply.status, reply.text) == (403, "Permission denied")


async def test_checks_of_their_own_are_tried_with_what_is_enough() -> None:
    table = (await guarded()).table
    checked = {
        f"{method} {route.path}"
        for route in table.routes
        for method in route.handlers
        if isinstance(route.need(method), Checked)
    }
    assert set(ENOUGH) <= checked


async def test_only_these_routes_take_management() -> None:
    """A change here is a decision: a capability is better than the right to everything."""
    table = (await guarded()).table
    found = {
        route.path
        for route in table.routes
        for method in route.handlers
        if isinstance(route.need(method), Management)
    }
    assert {path for path in found if not path.startswith(("/v1/acl/", "/v1/operator/raft/"))} == {
        "/v1/evaluations",
        "/v1/namespace",
        "/v1/namespace/{name}",
        "/v1/operator/snapshot",
        "/v1/system/gc",
        "/v1/system/reconcile/summaries",
    }
