"""The table of deliveries to push nodes."""

from __future__ import annotations

from yurt.model.deliveries import Delivery
from yurt.model.wire import AllocID, NodeID
from yurt.state.grouped import Grouped
from yurt.state.table import Table
from yurt.state.watches import Watches


class Deliveries(Table[AllocID, Delivery]):
    """Deliveries by allocation, with an index by node. Watch family: "deliveries-of-node"."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("deliveries", watches)
        self._by_node: Grouped[NodeID, AllocID] = Grouped()
        self._node_family = watches.family("deliveries-of-node")

    def of_node(self, node_id: NodeID) -> list[Delivery]:
        """What a node was given, or may have been."""
        return [self._rows[alloc_id] for alloc_id in self._by_node.of(node_id)]

    def put(self, key: AllocID, row: Delivery, index: int) -> None:
        """Set one delivery. Its node never changes."""
        if key not in self._rows:
            self._by_node.add(row.node_id, key)
        super().put(key, row, index)
        self._watches.touch(self._node_family, row.node_id)

    def delete(self, key: AllocID, index: int) -> Delivery | None:
        """Forget one delivery."""
        row = super().delete(key, index)
        if row is not None:
            self._by_node.discard(row.node_id, key)
            self._watches.touch(self._node_family, row.node_id)
        return row

    def drop_node(self, node_id: NodeID, index: int) -> None:
        """Forget all deliveries to a node that is no more."""
        for delivery in self.of_node(node_id):
            self.delete(delivery.alloc_id, index)
