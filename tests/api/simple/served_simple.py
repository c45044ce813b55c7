"""The simple API over a server in this process, which does not run: nothing is scheduled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from starlette.types import Receive, Scope, Send

from tests.api.asgi import Reply, request
from yurt.api.deps import AgentInfo, Deps
from yurt.api.simple.app import SimpleApp
from yurt.api.simple.table import simple_routes
from yurt.clock import SystemClock
from yurt.server.server import Server
from yurt.server.settings import AclSettings, ServerSettings

GROUPS: list[dict[str, Any]] = [{"name": "g", "tasks": [{"name": "t", "config": {"command": "sleep 1"}}]}]
AMOUNTS = {"cpu": 900, "memory": 4000, "cpu_used": 100, "memory_used": 96}
REGISTRATION: dict[str, Any] = {
    "node_id": "node-1",
    "ip_address": "10.0.0.7",
    "resources": AMOUNTS,
    "healthy": True,
    "endpoint": "http://10.0.0.7:8501",
}
HEARTBEAT: dict[str, Any] = {"node_id": "node-1", "resources": AMOUNTS, "healthy": True, "timestamp": 1.0}


class _OnLoopback(SimpleApp):
    """The application as it is reached on the loopback address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().__call__({**scope, "server": ("127.0.0.1", 8500)}, receive, send)


class ServedSimple:
    """A server behind the simple API."""

    def __init__(self, server: Server, **app: Any) -> None:
        self.server = server
        info = AgentInfo(
            name="node1",
            region="global",
            datacenter="dc1",
            config={},
            http_address="127.0.0.1:4646",
            rpc_address="127.0.0.1:4647",
            has_client=False,
            pid=1,
        )
        self.deps = Deps(server, None, info, Random(1))
        self._app = _OnLoopback(simple_routes(self.deps), **app)

    async def call(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Make one call; bytes are sent as they are."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-length": str(len(data)), "host": "127.0.0.1:8500", **(headers or {})}
        return await request(self._app, method, path, data, headers=sent)


async def served_simple(*, acl_enabled: bool = False, **app: Any) -> ServedSimple:
    """An empty server behind the simple API."""
    settings = ServerSettings(name="node1", acl=AclSettings(is_enabled=acl_enabled))
    return ServedSimple(await Server.open(settings, SystemClock(), Random(2)), **app)
