"""New nodes show that somebody expects them."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from tests.state.builders import a_node
from yurt.clock import SystemClock
from yurt.model.identity import DEFAULT_IDENTITY_AUDIENCE
from yurt.model.times import HOUR_NS, MINUTE_NS
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.identities import TokenClaims
from yurt.server.introductions import STRICT, IntroductionRefused, Introductions
from yurt.server.server import Server
from yurt.server.settings import WARN, AclSettings, IntroductionSettings, ServerSettings
from yurt.state import entries


class _Later(SystemClock):
    """A clock that can be set forward."""

    ahead = 0

    def now_ns(self) -> int:
        return super().now_ns() + self.ahead


async def _server(enforcement: str) -> tuple[Server, _Later]:
    settings = ServerSettings(
        name="s",
        acl=AclSettings(is_enabled=True),
        introductions=IntroductionSettings(enforcement=enforcement),
    )
    clock = _Later()
    server = await Server.open(settings, clock, Random(1))
    await server.keyring.rotate()
    return server, clock


def _is_refused(introductions: Introductions, token: str, **node: str) -> bool:
    try:
        introductions.check((replace(a_node(), **{"name": "n1", "node_pool": "default", **node}),), token)
    except NodeRefused:
        return True
    return False


async def test_only_introduced_nodes_join_where_that_is_demanded() -> None:
    server, clock = await _server(STRICT)
    introductions = server.introductions
    token = introductions.make(node_name="n1", node_pool="", ttl=0)
    assert not _is_refused(introductions, token)
    assert _is_refused(introductions, "")
    assert _is_refused(introductions, "garbage")
    assert _is_refused(introductions, token, name="n2")
    assert _is_refused(introductions, token, node_pool="gpu")
    clock.ahead = 5 * MINUTE_NS
    assert _is_refused(introductions, token), "its time is over"


async def test_an_introduction_without_a_name_is_for_any_node_of_its_pool() -> None:
    server, _ = await _server(STRICT)
    token = server.introductions.make(node_name="", node_pool="gpu", ttl=0)
    assert not _is_refused(server.introductions, token, name="any", node_pool="gpu")
    assert _is_refused(server.introductions, token, name="any")


async def test_known_nodes_need_no_introduction() -> None:
    server, _ = await _server(STRICT)
    node = a_node()
    await server.committer.propose(entries.RegisterNode(at=1, node=node))
    server.introductions.check((node,), "")


async def test_other_tokens_of_the_cluster_introduce_nobody() -> None:
    server, _ = await _server(STRICT)
    claims = TokenClaims(
        sub="node:global:default:x:default", aud=DEFAULT_IDENTITY_AUDIENCE, nomad_node_pool="default"
    )
    assert _is_refused(server.introductions, server.identities.sign(claims).token)


async def test_an_introduction_opens_nothing_else() -> None:
    server, _ = await _server(STRICT)
    token = server.introductions.make(node_name="", node_pool="", ttl=0)
    assert server.identities.verify(token, server.clock.now_ns()) is None


@pytest.mark.parametrize("enforcement", ["none", WARN])
async def test_elsewhere_nobody_is_refused(enforcement: str) -> None:
    server, _ = await _server(enforcement)
    assert not _is_refused(server.introductions, "")


async def test_introductions_do_not_live_long() -> None:
    server, clock = await _server(STRICT)
    token = server.introductions.make(node_name="", node_pool="", ttl=24 * HOUR_NS)
    clock.ahead = 29 * MINUTE_NS
    assert not _is_refused(server.introductions, token)
    clock.ahead = 30 * MINUTE_NS
    assert _is_refused(server.introductions, token)
    with pytest.raises(IntroductionRefused):
        server.introductions.make(node_name="", node_pool="", ttl=-1)
