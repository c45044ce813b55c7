"""The API of a node that has no server in its process."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Sequence

from starlette.types import Receive, Scope, Send

from yurt.agent.agent import NodeAgent
from yurt.api.answer import Answer, render, text_answer
from yurt.api.app import HttpApp
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.forward import RELAY_HEADER, AgentUnreachable, forward, is_relay_token, passed_headers
from yurt.api.routes import ANY_METHOD, Route, RouteTable
from yurt.api.socket_relay import relay_socket
from yurt.api.v1.client import ClientHandlers
from yurt.api.v1.client_checks import CheckReader
from yurt.api.v1.client_fs import ClientFsHandlers
from yurt.api.v1.client_snapshot import ClientSnapshotHandlers
from yurt.api.v1.exec_sessions import ExecHandlers
from yurt.api.v1.monitor import MonitorHandlers
from yurt.api.v1.monitor_export import MonitorExportHandlers
from yurt.api.v1.node_volumes import ClientVolumeHandlers
from yurt.api.v1.tunnels import TunnelHandlers
from yurt.api.websocket import FOREIGN_ORIGIN, WebSocket, WebSocketGone, is_foreign_origin
from yurt.clock import Clock
from yurt.model.alloc import Allocation, encode_task_states
from yurt.model.wire import AllocID, NodeID

NO_SERVERS = "No cluster leader"
# Exactly this route: what people ask for otherwise, servers have to allow first.
_SNAPSHOT = re.compile(r"/v1/client/allocation/[^/]+/snapshot")


class NodeDoor:
    """Serves what the node alone can answer to its servers, and hands everything else on to them.

    Who may do what is the servers' to say. So what people ask of a node goes to a server first, which
    sends it back with a token that only servers have.
    """

    def __init__(
        self,
        agent: NodeAgent,
        clock: Clock,
        *,
        servers: Callable[[], Sequence[str]],
        tls: Callable[[], ssl.SSLContext | None],
        server_name: str = "",
    ) -> None:
        self._agent = agent
        self._server_name = server_name
        self._servers = servers
        self._tls = tls
        own = NodeDeps(agent, clock)
        self._app = HttpApp(
            RouteTable(
                (
                    # Asked for by other nodes, with tokens of their own.
                    *ClientSnapshotHandlers(agent).routes(),
                    *ClientVolumeHandlers(agent).routes(),
                    *ClientFsHandlers(own).routes(),
                    *ExecHandlers(own).routes(),
                    *TunnelHandlers(own).routes(),
                    *ClientHandlers(own).routes(),
                    *MonitorHandlers(own).routes(),
                    *MonitorExportHandlers(own).routes(),
                    Route(
                        path="/v1/allocation/{alloc_id}/checks",
                        handlers=dict.fromkeys(ANY_METHOD, CheckReader(own).read),
                        summary="Read the results of an allocation's checks",
                    ),
                )
            )
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)
            return
        call = Call(scope, receive, {})
        token = call.headers.get(RELAY_HEADER, "")
        if is_relay_token(token, self._agent.secret_id) or _SNAPSHOT.fullmatch(call.url_path):
            await self._app(scope, receive, send)
            return
        await render(await self._ask_servers(call), call)(scope, receive, send)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = Call({**scope, "type": "http", "method": "GET"}, receive, {})
        if is_relay_token(call.headers.get(RELAY_HEADER, ""), self._agent.secret_id):
            await self._app(scope, receive, send)
            return
        socket = WebSocket(receive, send)
        if is_foreign_origin(scope):
            await socket.refuse(403, FOREIGN_ORIGIN)
            return
        await socket.accept()
        headers = {
            name: value
            for name, value in passed_headers(call.headers).items()
            if not name.lower().startswith(("sec-websocket-", "origin"))
        }
        for address in self._servers():
            try:
                await relay_socket(socket, address, call.target, headers=headers, tls=self._tls())
            except AgentUnreachable:
                continue
            except WebSocketGone:
                return
            except HttpError as error:
                await socket.fail(error.status, error.text)
            return
        await socket.fail(500, NO_SERVERS)

    async def _ask_servers(self, call: Call) -> Answer:
        for address in self._servers():
            try:
                return await forward(
                    call,
                    address,
                    headers=passed_headers(call.headers),
                    tls=self._tls(),
                    server_name=self._server_name,
                )
            except AgentUnreachable:
                continue
        return text_answer(500, NO_SERVERS)


class NodeDeps:
    """What handlers of client routes work with on the node itself."""

    def __init__(self, agent: NodeAgent, clock: Clock) -> None:
        self.node_agent = agent
        self.clock = clock
        self.namespace_of = _Namespaces()

    def alloc(self, alloc_id: AllocID) -> Allocation | None:
        """An allocation on this node."""
        runner = self.node_agent.allocs.get(alloc_id)
        if runner is None:
            return None
        told, report = runner.alloc, runner.report()
        return Allocation(
            id=told.id,
            job=told.job,
            task_group=told.task_group,
            name_index=0,
            node_id=told.node_id,
            node_name="",
            eval_id=told.eval_id,
            resources=told.resources,
            client_status=report.client_status,
            network_status=report.network_status,
            task_states=encode_task_states(report.task_states),
        )

    def knows_node(self, node_id: NodeID) -> bool:
        """Whether there is such a node: here only this one is known."""
        return node_id == self.node_agent.node_id


class _Namespaces:
    """Servers have checked who asks before they hand a call on."""

    async def alloc(self, _call: Call) -> str | None:
        """Nothing that would have to be checked again."""
        return None
