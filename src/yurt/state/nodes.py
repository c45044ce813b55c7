"""The table of nodes."""

from __future__ import annotations

from yurt.model.node import Node
from yurt.model.wire import NodeID
from yurt.state.columns import NodeColumns
from yurt.state.table import Table
from yurt.state.watches import Watches


class Nodes(Table[NodeID, Node]):
    """Nodes by id, with their capacity in `columns`."""

    def __init__(self, watches: Watches, columns: NodeColumns) -> None:
        super().__init__("nodes", watches)
        self._columns = columns
        self._draining: dict[NodeID, None] = {}
        # When each node last reported on an allocation. It is kept beside the rows: reports come often, and
        # would rewrite a node each time.
        self.alloc_reports: dict[NodeID, int] = {}

    def draining(self) -> list[Node]:
        """The nodes that are being emptied."""
        return [self._rows[node_id] for node_id in self._draining]

    def put(self, key: NodeID, row: Node, index: int) -> None:
        """Set a node, as of `index`."""
        self._columns.set_node(row)
        if row.drain_strategy is not None:
            self._draining[key] = None
        else:
            self._draining.pop(key, None)
        super().put(key, row, index)

    def delete(self, key: NodeID, index: int) -> Node | None:
        """Remove a node, as of `index`."""
        self._columns.drop_node(key)
        self._draining.pop(key, None)
        self.alloc_reports.pop(key, None)
        return super().delete(key, index)
