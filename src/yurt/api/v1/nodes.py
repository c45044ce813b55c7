"""/v1/nodes and /v1/node."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.ids import checked_prefix, checked_uuid
from yurt.api.listing import by_id
from yurt.api.parameters import BLOCKING, NODE_FIELDS, PAGED, PREFIX
from yurt.api.routes import WRITE, Route
from yurt.api.rows import Rows
from yurt.api.v1.alloc_views import AllocView, alloc_view
from yurt.api.v1.found import found
from yurt.api.v1.node_views import NodeListStub, node_stub, node_view
from yurt.model.alloc import Allocation
from yurt.model.go_types import Duration
from yurt.model.node import Node
from yurt.model.wire import NodeID, Wire, wire_names
from yurt.server.commands.node_operations import NodeChanged

BY_ID = by_id(lambda node: node.id)


class DrainSpec(Wire, frozen=True, kw_only=True):
    """How to empty a node."""

    deadline: Duration = 0
    ignore_system_jobs: bool = False


class DrainRequest(Wire, frozen=True, kw_only=True):
    """Begin, change or end a drain."""

    drain_spec: DrainSpec | None = None
    mark_eligible: bool = False
    meta: dict[str, str] | None = None


class EligibilityRequest(Wire, frozen=True, kw_only=True):
    """Let work onto a node, or keep it off."""

    node_id: str = ""
    eligibility: str = ""


class NodeChangeResponse(Wire, frozen=True, kw_only=True):
    """The answer to a drain or a change of eligibility."""

    node_modify_index: int
    eval_ids: tuple[str, ...] | None
    eval_create_index: int
    index: int


class ServerAddress(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(
        rpc_advertise_addr="RPCAdvertiseAddr",
        rpc_major_version="RPCMajorVersion",
        rpc_minor_version="RPCMinorVersion",
    ),
):
    """Where a server can be reached."""

    rpc_advertise_addr: str
    rpc_major_version: int = 1
    rpc_minor_version: int = 1
    datacenter: str = ""


class NodeUpdateResponse(Wire, frozen=True, kw_only=True, rename=wire_names(leader_rpc_addr="LeaderRPCAddr")):
    """The answer to an evaluation or a purge of a node."""

    heartbeat_ttl: int = 0
    eval_ids: tuple[str, ...] | None = None
    eval_create_index: int = 0
    node_modify_index: int = 0
    features: int = 0
    leader_rpc_addr: str = ""
    num_nodes: int = 0
    servers: tuple[ServerAddress, ...] | None = None
    scheduling_eligibility: str = ""
    signed_identity: str | None = None
    index: int = 0
    last_contact: int = 0
    known_leader: bool = False
    next_token: str = ""


class NodeHandlers:
    """The handlers of /v1/nodes and /v1/node."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/nodes",
                handlers={"GET": self.list},
                summary="List nodes",
                takes=(PREFIX, *PAGED, *NODE_FIELDS),
                needs=needs.node("read"),
                response=list[NodeListStub],
            ),
            Route(
                path="/v1/node/{node_id}/evaluate",
                handlers=dict.fromkeys(WRITE, self.evaluate),
                summary="Have every job of a node looked at again",
                needs=needs.node("write"),
                response=NodeUpdateResponse,
            ),
            Route(
                path="/v1/node/{node_id}/allocations",
                handlers={"GET": self.allocations},
                summary="List the allocations of a node",
                takes=BLOCKING,
                needs=needs.node("read"),
                response=list[AllocView],
            ),
            Route(
                path="/v1/node/{node_id}/drain",
                handlers=dict.fromkeys(WRITE, self.drain),
                summary="Empty a node, or stop doing so",
                needs=needs.node("write"),
                request=DrainRequest,
                response=NodeChangeResponse,
            ),
            Route(
                path="/v1/node/{node_id}/eligibility",
                handlers=dict.fromkeys(WRITE, self.eligibility),
                summary="Let new work onto a node, or keep it off",
                needs=needs.node("write"),
                request=EligibilityRequest,
                response=NodeChangeResponse,
            ),
            Route(
                path="/v1/node/{node_id}/purge",
                handlers=dict.fromkeys(WRITE, self.purge),
                summary="Forget a node",
                needs=needs.node("write"),
                response=NodeUpdateResponse,
            ),
            Route(
                path="/v1/node/{node_id}",
                handlers={"GET": self.read},
                summary="Read a node",
                takes=BLOCKING,
                needs=needs.node("read"),
                response=Node,
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/nodes: always in the order of ids."""
        prefix = checked_prefix("node", call.query.get("prefix", ""))
        call.query.pop("reverse", None)
        try:
            with_resources, with_os = call.flag("resources"), call.flag("os")
        except HttpError as error:
            raise HttpError(400, f"Failed to parse node list fields: {error.text}") from None
        table = self._deps.state.nodes

        def view(node: Node) -> NodeListStub:
            return node_stub(node, with_resources=with_resources, with_os=with_os)

        return await self._deps.list(
            call,
            [("nodes", None)],
            lambda: (table.index, table),
            BY_ID,
            where=lambda node: node.id.startswith(prefix),
            view=view,
        )

    async def read(self, call: Call) -> Answer:
        """GET /v1/node/<id>."""
        node_id = _node_id(call)
        state = self._deps.state

        def read() -> tuple[int, dict[str, Any] | None]:
            node = state.nodes.get(node_id)
            if node is None:
                return state.nodes.index, None
            key = state.root_keys.active_at(node.create_index)
            view = node_view(node, signing_key_id=key.key_id if key else "")
            view["LastAllocUpdateIndex"] = state.nodes.alloc_reports.get(node.id, 0)
            return node.modify_index, view

        return found(await self._deps.read(call, [("nodes", node_id)], read), "node not found")

    async def allocations(self, call: Call) -> Answer:
        """GET /v1/node/<id>/allocations."""
        node_id = _node_id(call)
        state = self._deps.state

        def view(alloc: Allocation) -> AllocView:
            key = state.root_keys.active_at(alloc.create_index)
            return alloc_view(alloc, signing_key_id=key.key_id if key else "")

        def read() -> tuple[int, Rows]:
            rows = [
                alloc
                for alloc in state.allocs.of_node(node_id)
                if call.permissions.allows(alloc.namespace, "read-job")
            ]
            return max(state.allocs.index, 1), Rows(rows, view)

        return await self._deps.read(call, [("allocs-of-node", node_id)], read)

    async def drain(self, call: Call) -> Answer:
        """PUT /v1/node/<id>/drain."""
        request: DrainRequest = await call.read(DrainRequest)
        spec = request.drain_spec
        done = await self._deps.commands.nodes.drain(
            _node_id(call),
            deadline=spec.deadline if spec is not None else None,
            ignore_system_jobs=spec is not None and spec.ignore_system_jobs,
            mark_eligible=request.mark_eligible,
            meta=request.meta,
        )
        return _change_answer(done)

    async def eligibility(self, call: Call) -> Answer:
        """PUT /v1/node/<id>/eligibility: a node named in the body wins over the path's."""
        request: EligibilityRequest = await call.read(EligibilityRequest)
        node_id = NodeID(checked_uuid("node", request.node_id)) if request.node_id else _node_id(call)
        return _change_answer(await self._deps.commands.nodes.set_eligibility(node_id, request.eligibility))

    async def evaluate(self, call: Call) -> Answer:
        """PUT /v1/node/<id>/evaluate."""
        done = await self._deps.commands.nodes.evaluate(_node_id(call))
        address = self._deps.info.rpc_address
        body = NodeUpdateResponse(
            eval_ids=done.eval_ids or None,
            eval_create_index=done.index,
            leader_rpc_addr=address,
            num_nodes=len(self._deps.state.nodes),
            servers=(ServerAddress(rpc_advertise_addr=address, datacenter=self._deps.info.datacenter),),
            index=done.index,
        )
        return Answer(body=body, index=done.index)

    async def purge(self, call: Call) -> Answer:
        """PUT /v1/node/<id>/purge."""
        done = await self._deps.commands.nodes.purge(_node_id(call))
        body = NodeUpdateResponse(
            eval_ids=done.eval_ids or None,
            eval_create_index=done.index if done.eval_ids else 0,
            node_modify_index=done.node_modify_index,
            index=done.index,
        )
        return Answer(body=body, index=done.index)


def _node_id(call: Call) -> NodeID:
    if not call.path["node_id"]:
        raise HttpError(500, "missing node ID")
    return NodeID(checked_uuid("node", call.path["node_id"]))


def _change_answer(done: NodeChanged) -> Answer:
    return Answer(
        body=NodeChangeResponse(
            node_modify_index=done.node_modify_index,
            eval_ids=done.eval_ids or None,
            eval_create_index=done.index if done.eval_ids else 0,
            index=done.index,
        ),
        index=done.index,
    )
