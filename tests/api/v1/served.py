"""The whole API over a server in this process, for tests that need no node."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.api.asgi import Reply, request
from yurt.api.app import HttpApp
from yurt.api.deps import AgentInfo, Deps
from yurt.api.v1.table import v1_routes
from yurt.clock import SystemClock
from yurt.server.server import Server
from yurt.server.settings import ServerSettings


class Served:
    """A server that does not run: what is registered is stored, and nothing is scheduled."""

    def __init__(self, server: Server) -> None:
        info = AgentInfo(
            name="node1",
            region="global",
            datacenter="dc1",
            config={"Telemetry": {"PrometheusMetrics": True}},
            http_address="127.0.0.1:4646",
            rpc_address="127.0.0.1:4647",
            has_client=False,
            pid=1,
        )
        self.deps = Deps(server, None, info, Random(1))
        self.table = v1_routes(self.deps)
        self._app = HttpApp(self.table)

    async def call(self, method: str, path: str, body: Any = None) -> Reply:
        """Make one call."""
        data = b"" if body is None else json.dumps(body).encode()
        return await request(self._app, method, path, data, headers={"content-length": str(len(data))})

    async def register(self, job_id: str, **more: Any) -> None:
        """Register a job of one group that wants nothing to run."""
        task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sleep"}}
        group = {"Name": "g", "Count": 0, "Tasks": [task], **more.pop("Group", {})}
        job = {"ID": job_id, "Datacenters": ["dc1"], "TaskGroups": [group], **more}
        reply = await self.call("PUT", "/v1/jobs", {"Job": job})
        assert reply.status == 200, reply.text


async def served() -> Served:
    """An empty server behind the API."""
    return Served(await Server.open(ServerSettings(name="node1"), SystemClock(), Random(2)))
