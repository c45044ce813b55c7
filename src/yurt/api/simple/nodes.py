"""/register, /heartbeat and /nodes: machines that bring their own agent, and all others."""

from __future__ import annotations

from typing import Any

import msgspec

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.routes import Route
from yurt.api.simple.views import node_allocs_view
from yurt.model.acl.permissions import Permissions
from yurt.model.node import NODE_READY, Node
from yurt.model.push_nodes import is_push_node, public_node_id, says_healthy
from yurt.model.simple.fields import read_document
from yurt.model.simple.push_messages import read_heartbeat, read_registration
from yurt.model.times import SECOND_NS
from yurt.state.use import CPU, MEMORY


class NodeHandlers:
    """The handlers of /register, /heartbeat and /nodes."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """The routes."""
        return (
            Route(
                path="/register",
                handlers={"POST": self.register},
                summary="Join as a push node",
                needs=needs.node("write"),
            ),
            Route(
                path="/heartbeat",
                handlers={"POST": self.heartbeat},
                summary="Give a sign of life",
                needs=needs.node("write"),
            ),
            Route(path="/nodes", handlers={"GET": self.list}, summary="List nodes", needs=needs.node("read")),
        )

    async def register(self, call: Call) -> Answer:
        """POST /register."""
        await self._deps.server.push_nodes.register(read_registration(read_document(await call.body())))
        return Answer(body={"message": "Node registered successfully"})

    async def heartbeat(self, call: Call) -> Answer:
        """POST /heartbeat."""
        await self._deps.server.push_nodes.heartbeat(read_heartbeat(read_document(await call.body())))
        return Answer(body={"message": "Heartbeat received"})

    async def list(self, call: Call) -> Answer:
        """GET /nodes."""
        nodes = [self._view(node, call.permissions) for node in self._deps.state.nodes]
        return Answer(body={"nodes": nodes, "count": len(nodes)})

    def _view(self, node: Node, permissions: Permissions) -> dict[str, Any]:
        return {
            "node_id": public_node_id(node),
            "ip_address": node.attributes.get("unique.network.ip-address", ""),
            "resources": self._amounts(node),
            "healthy": node.status == NODE_READY and (not is_push_node(node) or says_healthy(node)),
            "last_heartbeat": self._last_heartbeat(node),
            "allocations": node_allocs_view(self._deps.state, node.id, permissions),
        }

    def _amounts(self, node: Node) -> Any:  # noqa: ANN401 - JSON
        """What a push node last said; of others, what is not booked and what is."""
        said = self._deps.server.push_nodes.said.get(node.id)
        if said is not None:
            return msgspec.to_builtins(said.amounts)
        columns = self._deps.state.columns
        slot = columns.slots[node.id]
        used = columns.used[:, slot]
        free = columns.capacity[:, slot] - used
        return {
            "cpu": int(free[CPU]),
            "memory": int(free[MEMORY]),
            "cpu_used": int(used[CPU]),
            "memory_used": int(used[MEMORY]),
        }

    def _last_heartbeat(self, node: Node) -> float | None:
        server = self._deps.server
        silent_s = server.heartbeats.silent_s(node.id, now=server.clock.monotonic())
        return server.clock.now_ns() / SECOND_NS - silent_s if silent_s is not None else None
