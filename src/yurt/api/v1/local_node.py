"""Which node a client route means, and whether it is this one."""

from __future__ import annotations

from yurt.api.call import Call
from yurt.api.deps import Deps, NodeAccess
from yurt.api.errors import HttpError
from yurt.api.ids import checked_uuid
from yurt.model.alloc import Allocation
from yurt.model.wire import AllocID, NodeID

NO_PATH = "No path to node"


def checked_alloc_id(text: str) -> AllocID:
    """An allocation id of a client route. Raises HttpError."""
    if not text:
        raise HttpError(500, "Missing allocation ID")
    return AllocID(checked_uuid("alloc", text))


def known_alloc(deps: Deps, alloc_id: AllocID) -> Allocation:
    """The allocation that a client route means. Raises HttpError."""
    alloc = deps.state.allocs.get(alloc_id)
    if alloc is None:
        raise HttpError(404, f'Unknown allocation "{alloc_id}"')
    return alloc


def node_of_alloc(deps: Deps, alloc: Allocation) -> NodeAccess:
    """The agent of an allocation's node. Raises HttpError if it cannot be reached from here."""
    agent = deps.node_agent
    if agent is None or agent.node_id != alloc.node_id:
        raise HttpError(404, NO_PATH)
    return agent


def asked_node(deps: Deps, call: Call, *, unknown_status: int, named: str = "") -> NodeAccess:
    """The agent of the node that a call names, else of the one `named`, or of this one. Raises HttpError."""
    agent = deps.node_agent
    text = call.query.get("node_id", "") or named
    if not text:
        if agent is None:
            raise HttpError(400, "No local Node and node_id not provided")
        return agent
    node_id = NodeID(checked_uuid("node", text))
    if agent is not None and agent.node_id == node_id:
        return agent
    if node_id not in deps.state.nodes:
        raise HttpError(unknown_status, f"Unknown node {node_id}")
    raise HttpError(404, NO_PATH)
