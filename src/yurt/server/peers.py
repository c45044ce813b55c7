"""Which other nodes a node measures its way to."""

from __future__ import annotations

from yurt.model.client_protocol import Peer
from yurt.model.coordinates import ATTRIBUTE
from yurt.model.wire import NodeID
from yurt.server.context import ServerContext

PEERS_PER_BEAT = 2
# Nodes that cannot be measured to are passed over, but not for ever.
_TRIES_MAX = 8


class Peers:
    """Draws a few nodes for each heartbeat, whatever the number of nodes."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._ids: tuple[NodeID, ...] = ()
        self._index = -1

    def draw(self, asking: NodeID) -> tuple[Peer, ...]:
        """Some other nodes that are ready."""
        nodes = self._context.state.nodes
        if nodes.index != self._index:
            self._ids, self._index = tuple(node.id for node in nodes), nodes.index
        found: dict[NodeID, Peer] = {}
        for _ in range(_TRIES_MAX if len(self._ids) > 1 else 0):
            node = nodes.get(self._context.rng.choice(self._ids))
            if node is not None and node.id != asking and node.is_ready and node.http_addr:
                found[node.id] = Peer(address=node.http_addr, coordinate=node.attributes.get(ATTRIBUTE, ""))
            if len(found) == PEERS_PER_BEAT:
                break
        return tuple(found.values())
