"""/v1/nodes and /v1/node."""

from __future__ import annotations

from typing import Any

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.routes import Route
from yurt.api.v1.alloc_views import AllocView, alloc_view
from yurt.api.v1.found import found
from yurt.api.v1.node_views import NodeListStub, node_stub, node_view
from yurt.api.v1.paging import page
from yurt.model.wire import NodeID


class NodeHandlers:
    """The handlers of /v1/nodes and /v1/node."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(path="/v1/nodes", handlers={"GET": self.list}, summary="List nodes"),
            Route(
                path="/v1/node/{node_id}/allocations",
                handlers={"GET": self.allocations},
                summary="List the allocations of a node",
            ),
            Route(path="/v1/node/{node_id}", handlers={"GET": self.read}, summary="Read a node"),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/nodes."""
        prefix = checked_prefix("node", call.query.get("prefix", ""))
        try:
            with_resources, with_os = call.flag("resources"), call.flag("os")
        except HttpError as error:
            raise HttpError(400, f"Failed to parse node list fields: {error.text}") from None
        state = self._deps.state

        def read() -> tuple[int, tuple[list[NodeListStub], str]]:
            nodes = [node for node in state.nodes if node.id.startswith(prefix)]
            shown, token = page(call, nodes, order=lambda node: (node.id,), token=lambda node: node.id)
            stubs = [node_stub(node, with_resources=with_resources, with_os=with_os) for node in shown]
            return state.nodes.index, (stubs, token)

        answer = await self._deps.read(call, [("nodes", None)], read)
        answer.body, answer.next_token = answer.body
        return answer

    async def read(self, call: Call) -> Answer:
        """GET /v1/node/<id>."""
        node_id = self._node_id(call)
        state = self._deps.state

        def read() -> tuple[int, dict[str, Any] | None]:
            node = state.nodes.get(node_id)
            if node is None:
                return state.nodes.index, None
            return node.modify_index, node_view(node)

        return found(await self._deps.read(call, [("nodes", node_id)], read), "node not found")

    async def allocations(self, call: Call) -> Answer:
        """GET /v1/node/<id>/allocations."""
        node_id = self._node_id(call)
        state = self._deps.state

        def read() -> tuple[int, list[AllocView]]:
            return max(state.allocs.index, 1), [alloc_view(alloc) for alloc in state.allocs.of_node(node_id)]

        return await self._deps.read(call, [("allocs-of-node", node_id)], read)

    def _node_id(self, call: Call) -> NodeID:
        if not call.path["node_id"]:
            raise HttpError(500, "missing node ID")
        return NodeID(checked_uuid("node", call.path["node_id"]))
