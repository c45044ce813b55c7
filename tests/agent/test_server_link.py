"""The HTTP link finds a server that answers, and says clearly when none does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
import pytest
from aiohttp import web

from yurt.agent.server_link import HttpServerLink, RequestRefused, ServersUnreachable
from yurt.model.client_protocol import (
    AllocsUpdated,
    AllocUpdate,
    Heartbeat,
    NodeAllocs,
    NodeRegistered,
    RegisterNode,
    UpdateAllocs,
    WatchAllocs,
)
from yurt.model.node import Node
from yurt.model.wire import AllocID, NodeID

Handler = Callable[[web.Request], Awaitable[web.Response]]
Serve = Callable[[Handler], Awaitable[str]]

HEARTBEAT = Heartbeat(node_id=NodeID("n1"), secret_id="s1")


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start servers on free ports; each call gives the address of one more."""
    runners = []

    async def start(handler: Handler) -> str:
        app = web.Application()
        app.router.add_post("/rpc/v1/{method}", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        runners.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        return f"{host}:{port}"

    yield start
    for runner in runners:
        await runner.cleanup()


@pytest.fixture
async def links() -> AsyncIterator[Callable[..., HttpServerLink]]:
    """Make links that are closed when the test ends."""
    made: list[HttpServerLink] = []

    def make(*addresses: str) -> HttpServerLink:
        made.append(HttpServerLink(addresses))
        return made[-1]

    yield make
    for link in made:
        await link.close()


def answer(value: msgspec.Struct) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=msgspec.msgpack.encode(value))

    return handler


def fail(status: int, text: str = "") -> Handler:
    async def handler(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(status=status, text=text)

    return handler


async def test_each_call_posts_msgpack_to_its_own_path(
    serve: Serve, links: Callable[..., HttpServerLink]
) -> None:
    answers = {
        "register-node": NodeRegistered(index=1, heartbeat_ttl=10),
        "heartbeat": NodeRegistered(index=2, heartbeat_ttl=20, is_known=False),
        "watch-allocs": NodeAllocs(index=3, modify_indexes={AllocID("a"): 4}),
        "update-allocs": AllocsUpdated(index=5),
    }
    bodies = {}

    async def handler(request: web.Request) -> web.Response:
        method = request.match_info["method"]
        bodies[method] = await request.read()
        return web.Response(body=msgspec.msgpack.encode(answers[method]))

    link = links(await serve(handler))
    node = Node(id=NodeID("n1"), name="node1")
    update = UpdateAllocs(
        node_id=NodeID("n1"),
        secret_id="s1",
        updates=(AllocUpdate(id=AllocID("a"), client_status="running"),),
    )
    watch = WatchAllocs(node_id=NodeID("n1"), secret_id="s1", min_index=7, wait=0)

    assert await link.register(RegisterNode(node=node)) == answers["register-node"]
    assert await link.heartbeat(HEARTBEAT) == answers["heartbeat"]
    assert await link.watch_allocs(watch) == answers["watch-allocs"]
    assert await link.update_allocs(update) == answers["update-allocs"]

    assert msgspec.msgpack.decode(bodies["register-node"], type=RegisterNode).node == node
    assert msgspec.msgpack.decode(bodies["heartbeat"], type=Heartbeat) == HEARTBEAT
    assert msgspec.msgpack.decode(bodies["watch-allocs"], type=WatchAllocs) == watch
    assert msgspec.msgpack.decode(bodies["update-allocs"], type=UpdateAllocs) == update


async def test_a_server_without_a_leader_is_passed_over_and_asked_last(
    serve: Serve, links: Callable[..., HttpServerLink]
) -> None:
    bad = await serve(fail(503, "no leader"))
    good = await serve(answer(NodeRegistered(index=1, heartbeat_ttl=10)))
    link = links(bad, good)

    assert (await link.heartbeat(HEARTBEAT)).index == 1
    assert link.addresses == (good, bad)


async def test_a_dead_server_is_passed_over(
    serve: Serve, links: Callable[..., HttpServerLink], unused_tcp_port: int
) -> None:
    good = await serve(answer(NodeRegistered(index=1, heartbeat_ttl=10)))
    link = links(f"127.0.0.1:{unused_tcp_port}", good)

    assert (await link.heartbeat(HEARTBEAT)).index == 1


async def test_an_unreadable_answer_is_passed_over(
    serve: Serve, links: Callable[..., HttpServerLink]
) -> None:
    async def garbage(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=b"\xc1")

    good = await serve(answer(NodeRegistered(index=1, heartbeat_ttl=10)))
    link = links(await serve(garbage), good)

    assert (await link.heartbeat(HEARTBEAT)).index == 1


async def test_no_server_left_says_which_were_tried_and_why(
    serve: Serve, links: Callable[..., HttpServerLink]
) -> None:
    address = await serve(fail(500, "disk full"))

    with pytest.raises(ServersUnreachable, match="disk full") as caught:
        await links(address).heartbeat(HEARTBEAT)

    assert caught.value.addresses == (address,)


async def test_no_server_configured_is_said_so(links: Callable[..., HttpServerLink]) -> None:
    with pytest.raises(ServersUnreachable, match="none configured"):
        await links().heartbeat(HEARTBEAT)


async def test_a_refusal_is_not_tried_elsewhere(serve: Serve, links: Callable[..., HttpServerLink]) -> None:
    refusing = await serve(fail(403, "wrong node secret"))
    other = await serve(answer(NodeRegistered(index=1, heartbeat_ttl=10)))

    with pytest.raises(RequestRefused, match="wrong node secret") as caught:
        await links(refusing, other).heartbeat(HEARTBEAT)

    assert caught.value.status == 403


async def test_the_servers_own_list_replaces_the_configured_one(
    serve: Serve, links: Callable[..., HttpServerLink]
) -> None:
    first = ""

    async def handler(request: web.Request) -> web.Response:
        await request.read()
        told = NodeRegistered(index=1, heartbeat_ttl=10, servers=("10.0.0.9:4647", first))
        return web.Response(body=msgspec.msgpack.encode(told))

    first = await serve(handler)
    link = links(first, "10.0.0.1:4647")
    await link.heartbeat(HEARTBEAT)

    assert link.addresses == (first, "10.0.0.9:4647")
