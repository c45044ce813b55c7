"""Nodes find their place in the network from the ways to others that they measure."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.agent.alloc_harness import a_node_context
from tests.support.client_node import client_node
from tests.support.real_agent import running_agent
from yurt.agent.round_trips import RoundTrips
from yurt.clock import SystemClock
from yurt.model.client_protocol import Peer
from yurt.model.coordinates import ATTRIBUTE, Coordinate, parse_coordinate, round_trip_ms


async def test_the_way_to_a_peer_moves_the_node(tmp_path: Path) -> None:
    node = a_node_context(tmp_path, SystemClock())
    trips = RoundTrips(node)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        assert await trips.measure((Peer(address=f"127.0.0.1:{port}"),))
    finally:
        server.close()
        await server.wait_closed()

    found = parse_coordinate(node.node.attributes[ATTRIBUTE])
    assert found is not None
    assert round_trip_ms(found, Coordinate()) < 1000


async def test_a_peer_that_cannot_be_reached_changes_nothing(tmp_path: Path) -> None:
    node = a_node_context(tmp_path, SystemClock())
    peers = (Peer(address="127.0.0.1:1"), Peer(address="nonsense"), Peer(address="127.0.0.1:x"))

    assert not await RoundTrips(node).measure(peers)
    assert ATTRIBUTE not in node.node.attributes


def test_two_agents_learn_how_far_apart_they_are(tmp_path: Path) -> None:
    with running_agent(tmp_path / "first") as server, client_node(tmp_path / "second", server) as node_id:
        node = server.wait_for(f"/v1/node/{node_id}", lambda node: ATTRIBUTE in node["Attributes"])
        evals = server.call("GET", "/v1/evaluations").json

    assert parse_coordinate(node["Attributes"][ATTRIBUTE]) is not None
    assert evals == [], "a node's place in the network concerns no job"
