"""Who may use the simple API: tokens, and pages of other origins."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.simple.served_simple import GROUPS, HEARTBEAT, REGISTRATION, ServedSimple, served_simple
from yurt.model.acl.policy import AclPolicy
from yurt.model.acl.rules import AreaRule, NamespaceRule, Rules
from yurt.model.acl.token import MANAGEMENT, AclToken
from yurt.state.acl_entries import BootstrapAcl, UpsertAclPolicies, UpsertAclTokens

JOB: dict[str, Any] = {"job_id": "j", "task_groups": GROUPS}
SECRETS = {
    name: f"00000000-0000-4000-8000-00000000000{number}"
    for number, name in enumerate(("root", "reader", "writer", "nodes"))
}


def policy(name: str, rules: Rules) -> AclPolicy:
    return AclPolicy(name=name, parsed=rules)


def in_default(*capabilities: str) -> Rules:
    return Rules(namespaces=(NamespaceRule(name="default", capabilities=capabilities),))


POLICIES = (
    policy("reader", in_default("list-jobs", "read-job")),
    policy("writer", in_default("list-jobs", "read-job", "submit-job")),
    policy("nodes", Rules(node=AreaRule(policy="write"))),
)


async def guarded() -> ServedSimple:
    served = await served_simple(acl_enabled=True)
    propose = served.server.committer.propose
    root = AclToken(accessor_id="root", secret_id=SECRETS["root"], type=MANAGEMENT)
    await propose(BootstrapAcl(at=1, token=root))
    await propose(UpsertAclPolicies(at=1, policies=POLICIES))
    tokens = tuple(
        AclToken(accessor_id=name, secret_id=SECRETS[name], policies=(name,))
        for name in ("reader", "writer", "nodes")
    )
    await propose(UpsertAclTokens(at=1, tokens=tokens))
    return served


READS, WRITES = {"reader", "writer"}, {"writer"}
ROUTES = [
    ("GET", "/jobs", None, READS),
    ("POST", "/jobs", JOB, WRITES),
    ("GET", "/jobs/none", None, READS),
    ("PUT", "/jobs/none", JOB, WRITES),
    ("DELETE", "/jobs/none", None, WRITES),
    ("POST", "/jobs/none/delete", None, WRITES),
    ("POST", "/jobs/none/restart", None, WRITES),
    ("GET", "/templates", None, READS),
    ("POST", "/templates", {"name": "t", "task_groups": GROUPS}, WRITES),
    ("GET", "/templates/none", None, READS),
    ("PUT", "/templates/none", {"name": "t"}, WRITES),
    ("DELETE", "/templates/none", None, WRITES),
    ("GET", "/nodes", None, {"nodes"}),
    ("POST", "/register", REGISTRATION, {"nodes"}),
    ("POST", "/heartbeat", HEARTBEAT, {"nodes"}),
]


@pytest.mark.parametrize(("method", "path", "body", "allowed"), ROUTES)
async def test_every_route_asks_for_a_token_that_may(
    method: str, path: str, body: Any, allowed: set[str]
) -> None:
    served = await guarded()
    for name in ("nobody", "reader", "writer", "nodes"):
        headers = {"x-nomad-token": SECRETS[name]} if name != "nobody" else {}
        before = served.server.state.index
        reply = await served.call(method, path, body, headers=headers)
        if name in allowed:
            assert reply.status in (200, 404), reply.text
        else:
            assert reply.status == (401 if name == "nobody" else 403), (name, reply.text)
            assert reply.json.keys() == {"error"}
            assert served.server.state.index == before


@pytest.mark.parametrize("header", ["X-Nomad-Token", "X-Yurt-Token", "Authorization"])
async def test_a_token_may_come_in_three_headers(header: str) -> None:
    served = await guarded()
    value = SECRETS["root"] if header != "Authorization" else f"Bearer {SECRETS['root']}"
    assert (await served.call("GET", "/nodes", headers={header: value})).status == 200
    assert (await served.call("GET", "/nodes", headers={header: f"{value}x"})).status == 403


ELSEWHERE = "https://ui.example"


@pytest.mark.parametrize(
    ("app", "method", "status", "shown"),
    [
        ({"open_reads": True}, "GET", 200, ELSEWHERE),
        ({"open_reads": True}, "POST", 403, ELSEWHERE),
        ({}, "GET", 200, None),
        ({}, "POST", 403, None),
        ({"allowed_origins": (ELSEWHERE,)}, "GET", 200, ELSEWHERE),
        ({"allowed_origins": (ELSEWHERE,)}, "POST", 200, ELSEWHERE),
        ({"allowed_origins": ("https://other.example",)}, "POST", 403, None),
    ],
)
async def test_pages_of_other_origins(app: Any, method: str, status: int, shown: str | None) -> None:
    served = await served_simple(**app)
    body = JOB if method == "POST" else None
    reply = await served.call(method, "/jobs", body, headers={"origin": ELSEWHERE})
    assert reply.status == status
    assert reply.headers.get("access-control-allow-origin") == shown
    assert (len(list(served.server.state.jobs)) == 1) == (method == "POST" and status == 200)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize(
    ("app", "is_allowed"), [({"allowed_origins": (ELSEWHERE,)}, True), ({"open_reads": True}, False)]
)
async def test_preflights(app: Any, is_allowed: bool, method: str) -> None:
    served = await served_simple(**app)
    headers = {
        "origin": ELSEWHERE,
        "access-control-request-method": method,
        "access-control-request-headers": "content-type",
    }
    reply = await served.call("OPTIONS", "/jobs/x", headers=headers)
    assert reply.status == 204
    assert (method in reply.headers.get("access-control-allow-methods", "")) == is_allowed
    assert ("content-type" in reply.headers.get("access-control-allow-headers", "")) == is_allowed


async def test_a_page_of_the_api_itself_is_no_stranger() -> None:
    served = await served_simple()
    headers = {"origin": "http://127.0.0.1:8500"}
    assert (await served.call("POST", "/jobs", JOB, headers=headers)).status == 200


async def test_a_stranger_s_name_that_points_here_is_a_stranger() -> None:
    served = await served_simple(open_reads=True)
    headers = {"origin": "http://evil.example:8500", "host": "evil.example:8500"}
    reply = await served.call("POST", "/jobs", JOB, headers={**headers, "sec-fetch-site": "same-origin"})
    assert reply.status == 403
    crossing = {"sec-fetch-site": "cross-site"}
    assert (await served.call("POST", "/jobs", JOB, headers=crossing)).status == 403
    assert list(served.server.state.jobs) == []
