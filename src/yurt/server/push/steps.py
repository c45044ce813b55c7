"""What to do next about one allocation of a push node."""

from __future__ import annotations

from enum import Enum

from yurt.model.alloc import CLIENT_FAILED, CLIENT_LOST, Allocation
from yurt.model.node import NODE_READY
from yurt.model.simple.delivery import host_ports
from yurt.model.wire import AllocID, NodeID
from yurt.state.state import State


class Step(Enum):
    """What to do next."""

    NOTHING = "nothing"
    # Something that must be gone first is still there.
    WAIT = "wait"
    # Note that the node is about to be given it, then deliver.
    BEGIN = "begin"
    DELIVER = "deliver"
    # Have the node stop and forget it.
    REMOVE = "remove"
    # The node never had it: it has ended.
    END = "end"


def next_step(state: State, node_id: NodeID, alloc_id: AllocID, *, said_failed: bool) -> Step:
    """Compare what State wants of an allocation with what its node was given.

    `said_failed` is whether the node has called it failed, which State is told once it is gone from there.
    """
    alloc, delivery = state.allocs.get(alloc_id), state.deliveries.get(alloc_id)
    if delivery is None:
        if alloc is None or alloc.is_client_terminal:
            return Step.NOTHING
        if alloc.is_server_terminal:
            return Step.END
    elif is_unwanted(alloc) or said_failed:
        return Step.REMOVE if _is_ready(state, node_id) else Step.NOTHING
    elif delivery.is_accepted:
        return Step.NOTHING
    if not _is_ready(state, node_id):
        return Step.NOTHING
    if delivery is not None:
        return Step.DELIVER
    assert alloc is not None
    return Step.WAIT if _is_in_the_way(state, alloc) else Step.BEGIN


def is_unwanted(alloc: Allocation | None) -> bool:
    """Whether a node should not have an allocation any more; one that ended well may stay until dropped."""
    return alloc is None or alloc.is_server_terminal or alloc.client_status in (CLIENT_FAILED, CLIENT_LOST)


def _is_ready(state: State, node_id: NodeID) -> bool:
    node = state.nodes.get(node_id)
    return node is not None and node.status == NODE_READY


def _is_in_the_way(state: State, alloc: Allocation) -> bool:
    """Whether a push node still has what an allocation replaces, or something with one of its ports.

    A node that is down does not hold anything up: what it has is lost.
    """
    replaced = state.deliveries.get(AllocID(alloc.previous_allocation))
    if replaced is not None and _is_ready(state, replaced.node_id) and _is_going(state, replaced.alloc_id):
        return True
    ports = set(host_ports(alloc))
    return bool(ports) and any(
        not ports.isdisjoint(other.ports) and _is_going(state, other.alloc_id)
        for other in state.deliveries.of_node(alloc.node_id)
    )


def _is_going(state: State, alloc_id: AllocID) -> bool:
    return is_unwanted(state.allocs.get(alloc_id))
