"""Which node a client route means, and whether it is this one."""

from __future__ import annotations

from typing import Protocol

from yurt.api.call import Call
from yurt.api.deps import NodeAccess
from yurt.api.errors import HttpError
from yurt.api.ids import checked_uuid
from yurt.api.needs import NamespaceOf
from yurt.clock import Clock
from yurt.model.alloc import Allocation
from yurt.model.wire import AllocID, NodeID

NO_PATH = "No path to node"


class AllocNamespaces(Protocol):
    """Finds the namespaces of allocations."""

    @property
    def alloc(self) -> NamespaceOf:
        """Finds that of the allocation which a call names."""


class ClientDeps(Protocol):
    """What handlers of client routes work with, on a server and on a node alike."""

    @property
    def node_agent(self) -> NodeAccess | None:
        """The node agent in this process."""

    @property
    def clock(self) -> Clock:
        """What time it is."""

    @property
    def namespace_of(self) -> AllocNamespaces:
        """Finds the namespaces of allocations."""

    def alloc(self, alloc_id: AllocID) -> Allocation | None:
        """An allocation that is known here."""

    def knows_node(self, node_id: NodeID) -> bool:
        """Whether there is such a node."""


class NodeElsewhere(Exception):
    """A call is about a node that is not in this process."""

    def __init__(self, node_id: NodeID) -> None:
        super().__init__(node_id)
        self.node_id = node_id


def checked_alloc_id(text: str) -> AllocID:
    """An allocation id of a client route. Raises HttpError."""
    if not text:
        raise HttpError(500, "Missing allocation ID")
    return AllocID(checked_uuid("alloc", text))


def known_alloc(deps: ClientDeps, alloc_id: AllocID) -> Allocation:
    """The allocation that a client route means. Raises HttpError."""
    alloc = deps.alloc(alloc_id)
    if alloc is None:
        raise HttpError(404, f'Unknown allocation "{alloc_id}"')
    return alloc


def node_of_alloc(deps: ClientDeps, alloc: Allocation) -> NodeAccess:
    """The agent of an allocation's node. Raises NodeElsewhere if it is not in this process."""
    agent = deps.node_agent
    if agent is None or agent.node_id != alloc.node_id:
        raise NodeElsewhere(alloc.node_id)
    return agent


def asked_node(deps: ClientDeps, call: Call, *, unknown_status: int, named: str = "") -> NodeAccess:
    """The agent of the node that a call names, else of the one `named`, or of this one.

    Raises HttpError, and NodeElsewhere if it is not in this process.
    """
    agent = deps.node_agent
    text = call.query.get("node_id", "") or named
    if not text:
        if agent is None:
            raise HttpError(400, "No local Node and node_id not provided")
        return agent
    node_id = NodeID(checked_uuid("node", text))
    if agent is not None and agent.node_id == node_id:
        return agent
    if not deps.knows_node(node_id):
        raise HttpError(unknown_status, f"Unknown node {node_id}")
    raise NodeElsewhere(node_id)
