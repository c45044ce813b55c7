"""Time what access control adds to a request: whose token it is, and whether that is enough."""

from __future__ import annotations

import asyncio
import contextlib
import time
from random import Random
from statistics import median

from yurt.api.access import admit
from yurt.api.acl_rules import read_rules
from yurt.api.call import Call
from yurt.api.deps import AgentInfo, Deps
from yurt.api.errors import HttpError
from yurt.api.routes import Match
from yurt.api.v1.table import v1_routes
from yurt.clock import SystemClock
from yurt.model.acl.policy import AclPolicy, AclRole
from yurt.model.acl.token import MANAGEMENT, AclToken
from yurt.model.times import HOUR_NS
from yurt.server.server import Server
from yurt.server.settings import AclSettings, ServerSettings
from yurt.state import acl_entries

TARGETS = {"client_token_us": "<= 20", "management_token_us": "<= 20", "unknown_token_us": "<= 20"}
TOKENS = 10_000
POLICIES = 200
ROUNDS = 9
CALLS = 2_000


def run() -> dict[str, float]:
    """Return microseconds a request, with ten thousand tokens and two hundred policies in State."""
    return asyncio.run(_run())


async def _run() -> dict[str, float]:
    settings = ServerSettings(name="bench", acl=AclSettings(is_enabled=True))
    server = await Server.open(settings, SystemClock(), Random(1))
    info = AgentInfo(
        name="bench",
        region="global",
        datacenter="dc1",
        config={},
        http_address="",
        rpc_address="",
        has_client=False,
        pid=1,
    )
    table = v1_routes(Deps(server, None, info, Random(1)))
    secrets = await _fill(server)
    read = table.find("/v1/job/web")
    listed = table.find("/v1/jobs")
    assert read is not None
    assert listed is not None
    return {
        "client_token_us": await _microseconds(server, read, secrets["client"]),
        "client_token_list_us": await _microseconds(server, listed, secrets["client"]),
        "management_token_us": await _microseconds(server, read, secrets["management"]),
        "unknown_token_us": await _microseconds(server, read, server.context.new_secret()),
    }


async def _fill(server: Server) -> dict[str, str]:
    context = server.context
    policies = tuple(
        AclPolicy(
            name=f"team-{number}",
            parsed=read_rules(
                f'namespace "team-{number}-*" {{ policy = "write" }}\nnamespace "*" {{ policy = "read" }}'
            ),
        )
        for number in range(POLICIES)
    )
    role = AclRole(id="role", name="role", policies=tuple(policy.name for policy in policies[:5]))
    tokens = [
        AclToken(
            accessor_id=context.new_id(),
            secret_id=context.new_secret(),
            policies=(f"team-{number % POLICIES}",),
            roles=("role",),
            expiration_time=context.clock.now_ns() + HOUR_NS,
        )
        for number in range(TOKENS)
    ]
    root = AclToken(accessor_id=context.new_id(), secret_id=context.new_secret(), type=MANAGEMENT)
    await server.committer.propose(
        acl_entries.UpsertAclPolicies(at=1, policies=policies),
        acl_entries.UpsertAclRoles(at=1, roles=(role,)),
        acl_entries.UpsertAclTokens(at=1, tokens=(*tokens, root)),
    )
    return {"client": tokens[TOKENS // 2].secret_id, "management": root.secret_id}


async def _microseconds(server: Server, match: Match, secret: str) -> float:
    scope = {
        "type": "http",
        "method": "GET",
        "path": match.route.path,
        "query_string": b"namespace=team-3-web",
        "headers": [(b"host", b"127.0.0.1:4646"), (b"x-nomad-token", secret.encode())],
    }
    rounds = []
    for _ in range(ROUNDS):
        calls = [Call(scope, _no_body, match.values) for _ in range(CALLS)]
        # What it costs, not how long others keep the processor.
        began = time.thread_time()
        for call in calls:
            # Being refused is timed, too.
            with contextlib.suppress(HttpError):
                await admit(server.authority, match.route, call)
        rounds.append((time.thread_time() - began) / CALLS * 1e6)
    return median(rounds)


async def _no_body() -> dict[str, object]:
    raise AssertionError("permission is asked for without a body")
