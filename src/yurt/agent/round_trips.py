"""Measure the ways to other nodes, and so find this one's place in the network."""

from __future__ import annotations

import asyncio
import ipaddress

import msgspec

from yurt.agent.node_context import NodeContext
from yurt.model.client_protocol import Peer
from yurt.model.coordinates import ATTRIBUTE, Coordinate, moved, parse_coordinate, round_trip_ms
from yurt.observe.logger import get_logger

CONNECT_LIMIT_S = 3.0
# The servers are told of moves that matter for placing, and not of each.
REPORTED_MOVE_MS = 1.0
REPORTED_MOVE_SHARE = 0.1

logger = get_logger("agent")


class RoundTrips:
    """Keeps the node's coordinate; its attribute changes when the node has moved far enough."""

    def __init__(self, node: NodeContext) -> None:
        self._node = node
        self._own = parse_coordinate(node.node.attributes.get(ATTRIBUTE, "")) or Coordinate()
        self._reported: Coordinate | None = None

    async def measure(self, peers: tuple[Peer, ...]) -> bool:
        """Measure the ways to some nodes; True when the node's attributes have changed for it."""
        for peer in peers:
            took_ms = await self._connect(peer.address)
            if took_ms is not None:
                other = parse_coordinate(peer.coordinate) or Coordinate()
                self._own = moved(self._own, other, took_ms, self._node.rng)
        if not self._has_moved():
            return False
        self._reported = self._own
        node = self._node.node
        attributes = node.attributes | {ATTRIBUTE: self._own.text()}
        self._node.node = msgspec.structs.replace(node, attributes=attributes)
        return True

    def _has_moved(self) -> bool:
        if self._own == Coordinate():
            return False
        if self._reported is None:
            return True
        # Both heights count in a distance, also in that between two places of one node.
        move = round_trip_ms(self._own, self._reported) - self._own.height - self._reported.height
        move += abs(self._own.height - self._reported.height)
        return move > max(REPORTED_MOVE_MS, REPORTED_MOVE_SHARE * self._own.height)

    async def _connect(self, address: str) -> float | None:
        """How many milliseconds it takes to open a connection, which is one way there and back."""
        host, _, port = address.rpartition(":")
        began = self._node.clock.monotonic()
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S):
                _, writer = await asyncio.open_connection(_bare(host), int(port))
        except (OSError, TimeoutError, ValueError) as error:
            logger.debug("peer.not_reached", address=address, error=str(error))
            return None
        took_ms = (self._node.clock.monotonic() - began) * 1e3
        writer.close()
        return max(took_ms, 1e-3)


def _bare(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return host
