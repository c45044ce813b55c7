"""A rehearsal: one job through a scratch server, so that the first real job does not pay for first uses.

Decoders, encoders and numpy's loops are built when they are first needed; together that takes longer
than registering and placing a job does from then on.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import msgspec
from starlette.types import Message

from yurt.api.app import HttpApp
from yurt.api.deps import AgentInfo, Deps
from yurt.api.v1.table import v1_routes
from yurt.clock import Clock
from yurt.log import MemoryLog
from yurt.model.client_protocol import RegisterNode, WatchAllocs
from yurt.model.node import NODE_READY, DriverInfo, Node, NodeCpu, NodeDisk, NodeMemory, NodeResources
from yurt.model.wire import NodeID
from yurt.scheduler.schedule import schedule
from yurt.scheduler.view import View
from yurt.server.plan_applier import PlanApplier
from yurt.server.server import Server
from yurt.server.settings import ServerSettings
from yurt.state.state import State

_NAME = "rehearsal"
_DRIVER = "raw_exec"
_NODE = Node(
    id=NodeID("2d4b9f3e-0000-4000-8000-000000000000"),
    secret_id=_NAME,
    name=_NAME,
    status=NODE_READY,
    attributes={f"driver.{_DRIVER}": "1"},
    drivers={_DRIVER: DriverInfo(detected=True, healthy=True)},
    node_resources=NodeResources(
        cpu=NodeCpu(cpu_shares=1000), memory=NodeMemory(memory_mb=1000), disk=NodeDisk(disk_mb=1000)
    ),
)
_JOB = {
    "Job": {
        "ID": _NAME,
        "Name": _NAME,
        "Region": _NAME,
        "Datacenters": ["*"],
        "TaskGroups": [
            {"Name": _NAME, "Tasks": [{"Name": _NAME, "Driver": _DRIVER, "Config": {"command": "true"}}]}
        ],
    }
}


async def rehearse(clock: Clock) -> State:
    """Register a job with a server in memory, place it and show it; returns what the server then knew."""
    server = Server(ServerSettings(name=_NAME), MemoryLog(), State(), clock, Random(0))
    app = HttpApp(v1_routes(Deps(server, None, _agent(), Random(0))))
    await server.nodes.register(RegisterNode(node=_NODE))
    await _request(app, "PUT", "/v1/jobs", msgspec.json.encode(_JOB))
    evaluation = next(iter(server.state.evals))
    attempt = schedule(View(server.state), evaluation, now=clock.now_ns(), rng=Random(0))
    applier = PlanApplier(server.committer, clock, server.context.new_id)
    applying = asyncio.ensure_future(applier.run())
    try:
        await applier.submit([attempt])
    finally:
        applying.cancel()
    await server.nodes.watch_allocs(
        WatchAllocs(node_id=_NODE.id, secret_id=_NODE.secret_id, min_index=0, wait=1)
    )
    await _request(app, "GET", f"/v1/job/{_NAME}/allocations", b"")
    return server.state


def _agent() -> AgentInfo:
    return AgentInfo(
        name=_NAME,
        region=_NAME,
        datacenter="",
        config={},
        http_address="",
        rpc_address="",
        has_client=False,
        pid=0,
    )


async def _request(app: HttpApp, method: str, path: str, body: bytes) -> None:
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        pass

    await app(scope, receive, send)
