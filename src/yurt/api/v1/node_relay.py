"""Calls about nodes elsewhere, handed on to them."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from urllib.parse import urlencode

from msgspec.structs import replace

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.forward import RELAY_HEADER, AgentUnreachable, forward, relay_token
from yurt.api.routes import Handler, Route, SocketHandler
from yurt.api.socket_relay import relay_socket
from yurt.api.v1.local_node import NO_PATH, NodeElsewhere
from yurt.api.websocket import HANDSHAKE_PARAMETER, WebSocket
from yurt.model.node import NODE_DOWN, Node
from yurt.model.wire import NodeID
from yurt.observe.logger import get_logger

logger = get_logger("relay")


class NodeRelay:
    """Hands calls on to the nodes that they are about, over the address that each node has registered."""

    def __init__(
        self, node: Callable[[NodeID], Node | None], tls: Callable[[], ssl.SSLContext | None]
    ) -> None:
        self._node = node
        self._tls = tls

    def routes(self, routes: Iterable[Route]) -> tuple[Route, ...]:
        """The same routes, that serve other nodes, too."""
        return tuple(
            replace(
                route,
                handlers=self._handlers(route),
                websocket=None if route.websocket is None else self._reaching_socket(route.websocket),
            )
            for route in routes
        )

    def _handlers(self, route: Route) -> dict[str, Handler]:
        # Methods with the same handler go on having the same: that is how they are known to be alike.
        reaching = {handler: self._reaching(handler) for handler in set(route.handlers.values())}
        return {method: reaching[handler] for method, handler in route.handlers.items()}

    def _reaching(self, handler: Handler) -> Handler:
        async def handle(call: Call) -> Answer:
            try:
                return await handler(call)
            except NodeElsewhere as elsewhere:
                return await self._forward(call, elsewhere.node_id)

        return handle

    def _reaching_socket(self, handler: SocketHandler) -> SocketHandler:
        async def handle(call: Call, socket: WebSocket) -> None:
            try:
                await handler(call, socket)
            except NodeElsewhere as elsewhere:
                await self._relay(call, socket, elsewhere.node_id)

        return handle

    async def _relay(self, call: Call, socket: WebSocket, node_id: NodeID) -> None:
        node = self._reachable(node_id)
        # The caller has shown its token here, and the node takes this server's word for it.
        pairs = [(name, value) for name, value in call.pairs if name != HANDSHAKE_PARAMETER]
        target = f"{call.target.partition('?')[0]}?{urlencode(pairs)}"
        headers = {RELAY_HEADER: relay_token(node.secret_id)}
        tls = self._tls() if node.tls_enabled else None
        try:
            await relay_socket(socket, node.http_addr, target, headers=headers, tls=tls)
        except AgentUnreachable as error:
            logger.warning("node.unreachable", node_id=node_id, error=str(error))
            raise HttpError(404, NO_PATH) from None

    def _reachable(self, node_id: NodeID) -> Node:
        node = self._node(node_id)
        if node is None or node.status == NODE_DOWN or not node.http_addr:
            raise HttpError(404, NO_PATH)
        return node

    async def _forward(self, call: Call, node_id: NodeID) -> Answer:
        node = self._reachable(node_id)
        headers = {RELAY_HEADER: relay_token(node.secret_id)}
        if accepted := call.headers.get("accept-encoding", ""):
            headers["Accept-Encoding"] = accepted
        tls = self._tls() if node.tls_enabled else None
        try:
            return await forward(call, node.http_addr, headers=headers, tls=tls)
        except AgentUnreachable as error:
            logger.warning("node.unreachable", node_id=node_id, error=str(error))
            raise HttpError(404, NO_PATH) from None
