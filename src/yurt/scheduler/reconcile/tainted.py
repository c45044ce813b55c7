"""Tainted nodes: those that can no longer be trusted to run what they were given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from yurt.model.alloc import CLIENT_PENDING, CLIENT_RUNNING, Allocation
from yurt.model.node import NODE_DISCONNECTED, NODE_DOWN, Node
from yurt.model.wire import NodeID

TaintedNodes: TypeAlias = Mapping[NodeID, Node | None]
"""Nodes that are down, draining, disconnected, or None for those that are gone."""


def tainted_nodes(allocs: Iterable[Allocation], find_node: Callable[[NodeID], Node | None]) -> TaintedNodes:
    """The tainted ones among the nodes that `allocs` are on. Ineligible nodes are not tainted."""
    tainted: dict[NodeID, Node | None] = {}
    for node_id in {alloc.node_id: None for alloc in allocs}:
        node = find_node(node_id)
        if node is None or _is_tainted(node):
            tainted[node_id] = node
    return tainted


def stopping_on_dead_nodes(allocs: Iterable[Allocation], tainted: TaintedNodes) -> list[Allocation]:
    """Allocations told to stop whose node can no longer say that they did: they are lost."""
    return [
        alloc
        for alloc in allocs
        if alloc.is_server_terminal
        and alloc.client_status in (CLIENT_RUNNING, CLIENT_PENDING)
        and alloc.node_id in tainted
        and is_dead(tainted[alloc.node_id])
    ]


def is_dead(node: Node | None) -> bool:
    """Whether a node is gone or down."""
    return node is None or node.status == NODE_DOWN


def _is_tainted(node: Node) -> bool:
    return node.status in (NODE_DOWN, NODE_DISCONNECTED) or node.drain_strategy is not None
