"""Identities: signed for who they belong to, recognised while their owner lives."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_group, a_job, a_node, node_id
from yurt.clock import SystemClock
from yurt.log import MemoryLog
from yurt.model.acl.caller import IdentityClaims
from yurt.model.alloc import CLIENT_COMPLETE
from yurt.model.client_protocol import IdentityWanted, SignedIdentity, SignIdentities, SignNodeIdentity
from yurt.model.identity import DEFAULT_IDENTITY_AUDIENCE, WorkloadIdentity
from yurt.model.namespace import Namespace
from yurt.model.times import HOUR_NS, SECOND_NS
from yurt.model.wire import AllocID
from yurt.server.commands.keyring import KeyRefused
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.identities import IDENTITIES_MAX, TokenClaims
from yurt.server.server import Server
from yurt.server.settings import ServerSettings
from yurt.state.entries import AllocReport, ReportAllocs, UpsertNamespaces

DEFAULT = WorkloadIdentity(name="default", audience=(DEFAULT_IDENTITY_AUDIENCE,))
CLOUD = WorkloadIdentity(name="cloud", audience=("aws", "gcp"), ttl=HOUR_NS, extra_claims=("team", "nope"))


async def a_server(**settings: Any) -> Server:
    """Node 1 with the allocation `a1` of a child of `web`, node 2 with `b1`; and a key to sign with."""
    cluster = Cluster()
    (task,) = a_group().tasks
    group = a_group(tasks=(replace(task, identity=DEFAULT, identities=(CLOUD,)),))
    job = cluster.add_job(a_job("web/child", group, parent_id="web"))
    for alloc_id, number in (("a1", 1), ("b1", 2)):
        cluster.place(job, alloc_id, node=cluster.add_node(a_node(number)))
        cluster.report(alloc_id)
    log = MemoryLog()
    await log.reset(cluster.state.index + 1)
    server = Server(ServerSettings(name="test", **settings), log, cluster.state, SystemClock(), Random(1))
    await server.keyring.rotate()
    return server


def wanted(alloc_id: str = "a1", *, task: str = "t", identity: str = "default") -> IdentityWanted:
    return IdentityWanted(alloc_id=AllocID(alloc_id), task=task, identity=identity)


async def sign(server: Server, *asked: IdentityWanted) -> tuple[SignedIdentity | None, ...]:
    request = SignIdentities(node_id=node_id(1), secret_id="secret-1", wanted=asked)
    return (await server.nodes.sign_identities(request)).signed


async def token(server: Server, **asked: Any) -> str:
    (signed,) = await sign(server, wanted(**asked))
    assert signed is not None
    return signed.token


def claims(token: str) -> dict[str, Any]:
    encoded = token.split(".")[1]
    found: dict[str, Any] = json.loads(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    return found


async def test_a_default_identity_says_who_the_task_is() -> None:
    server = await a_server()
    found = claims(await token(server))
    times = {found.pop("iat"), found.pop("nbf")}
    assert len(times) == 1
    assert len(found.pop("jti")) == 36
    assert found == {
        "sub": "global:default:web:g:t:default",
        "aud": "nomadproject.io",
        "nomad_namespace": "default",
        "nomad_job_id": "web",
        "nomad_allocation_id": "a1",
        "nomad_task": "t",
    }


async def test_a_named_identity_expires_and_says_what_the_namespace_adds() -> None:
    server = await a_server(oidc_issuer="https://cluster.example")
    namespace = Namespace(
        name="default",
        required_extra_claims={"where": "${node.datacenter}/${job.id}"},
        optional_extra_claims={"team": "a-${task.name}-${nope}", "other": "x"},
    )
    await server.committer.propose(UpsertNamespaces(at=1, namespaces=(namespace,)))
    (signed,) = await sign(server, wanted(identity="cloud"))
    assert signed is not None
    assert signed.expires == signed.issued + HOUR_NS
    found = claims(signed.token)
    assert found["exp"] - found["iat"] == 3600
    assert found["aud"] == ["aws", "gcp"]
    assert found["iss"] == "https://cluster.example"
    assert found["extra_claims"] == {"where": "dc1/web", "team": "a-t-${nope}"}


async def test_a_node_gets_only_what_its_own_allocations_have() -> None:
    server = await a_server()
    asked = (wanted("b1"), wanted("gone"), wanted(task="nope"), wanted(identity="nope"), wanted())
    signed = await sign(server, *asked)
    assert [one is not None for one in signed] == [False, False, False, False, True]
    with pytest.raises(NodeRefused, match="another secret"):
        await server.nodes.sign_identities(SignIdentities(node_id=node_id(1), secret_id="", wanted=()))
    with pytest.raises(NodeRefused, match="at most"):
        await sign(server, *(wanted() for _ in range(IDENTITIES_MAX + 1)))


async def test_a_task_is_recognised_while_it_lives() -> None:
    server = await a_server()
    now = server.clock.now_ns()
    shown = await token(server)
    who = IdentityClaims(namespace="default", job_id="web", group="g", task="t", alloc_id="a1")
    assert server.identities.verify(shown, now + HOUR_NS) == who
    assert server.identities.verify(shown, now - HOUR_NS) is None, "not valid yet"
    assert server.identities.verify(shown[:-2], now) is None
    ended = AllocReport(id=AllocID("a1"), client_status=CLIENT_COMPLETE)
    await server.committer.propose(ReportAllocs(at=now, reports=(ended,)))
    assert server.identities.verify(shown, now + HOUR_NS) is None
    assert await sign(server, wanted()) == (None,)


async def test_a_token_for_somebody_else_opens_nothing_here() -> None:
    server = await a_server()
    shown = await token(server, identity="cloud")
    assert server.identities.verify(shown, server.clock.now_ns() + SECOND_NS) is None


async def test_a_token_expires() -> None:
    server = await a_server()
    signed = server.identities.sign(
        TokenClaims(sub="x", aud="nomadproject.io", nomad_allocation_id="a1", nomad_namespace="default"),
        ttl=10 * SECOND_NS,
    )
    assert server.identities.verify(signed.token, signed.expires - 2 * SECOND_NS) is not None
    assert server.identities.verify(signed.token, signed.expires) is None


async def test_a_token_ends_with_its_key() -> None:
    server = await a_server()
    shown = await token(server)
    now = server.clock.now_ns() + SECOND_NS
    assert server.identities.verify(shown, now) is not None
    key = server.state.root_keys.active
    assert key is not None
    await server.keyring.rotate()
    assert server.identities.verify(shown, now) is not None
    await server.keyring.remove(key.key_id, force=True)
    assert server.identities.verify(shown, now) is None


async def test_a_key_stays_while_an_allocation_may_show_its_token() -> None:
    server = await a_server()
    key = server.state.root_keys.active
    assert key is not None
    await server.keyring.rotate()
    with pytest.raises(KeyRefused, match="root key in use"):
        await server.keyring.remove(key.key_id)


async def test_a_node_has_an_identity_of_its_own() -> None:
    server = await a_server()
    signed = await server.nodes.sign_node_identity(SignNodeIdentity(node_id=node_id(1), secret_id="secret-1"))
    found = claims(signed.token)
    assert found["sub"] == f"node:global:default:{node_id(1)}:default"
    assert found["exp"] - found["iat"] == 24 * 3600
    key = server.state.root_keys.active
    assert key is not None
    assert server.state.nodes[node_id(1)].identity_signing_key_id == key.key_id
    shown = server.identities.verify(signed.token, server.clock.now_ns() + SECOND_NS)
    assert shown is None, "a node is no workload"
