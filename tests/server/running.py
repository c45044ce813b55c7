"""Servers that run, and nodes that say what a script says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

from tests.server.virtual_time import VirtualClock
from tests.state.builders import a_node, key
from yurt.clock import Clock
from yurt.log import Log, MemoryLog
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.client_protocol import (
    AllocUpdate,
    ClientAlloc,
    Heartbeat,
    NodeRegistered,
    RegisterNode,
    UpdateAllocs,
    WatchAllocs,
)
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID
from yurt.server.server import Server
from yurt.server.settings import ServerSettings
from yurt.state.state import State

SETTINGS = ServerSettings(name="test")
# By the clock of the loop: a test that needs longer waits for something that will not come.
PATIENCE_S = 3600.0

_TABLES = ("nodes", "jobs", "job-summaries", "allocs", "evals", "deployments")


@contextlib.asynccontextmanager
async def a_server(
    log: Log | None = None, *, clock: Clock | None = None, settings: ServerSettings = SETTINGS
) -> AsyncIterator[Server]:
    """A server that runs, in virtual time and without a disk unless told otherwise."""
    server = Server(settings, log or MemoryLog(), State(), clock or VirtualClock(), Random(1))
    async with running(server):
        yield server


@contextlib.asynccontextmanager
async def running(server: Server) -> AsyncIterator[None]:
    """Let a server run for as long as the block lasts, then close it."""
    duties = asyncio.ensure_future(server.run())
    try:
        yield
        assert not duties.done(), "the server ended by itself"
    finally:
        duties.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await duties
        await server.close()


async def until(server: Server, holds: Callable[[State], Any], *, patience_s: float = PATIENCE_S) -> None:
    """Wait until something holds of State."""
    changed = asyncio.Event()
    cancel = server.state.watches.add([(name, None) for name in _TABLES], changed.set)
    try:
        async with asyncio.timeout(patience_s):
            while not holds(server.state):
                changed.clear()
                await changed.wait()
    finally:
        cancel()


def placed(state: State, job_id: str = "web") -> list[AllocID]:
    """The ids of a job's allocations that should run."""
    return [alloc.id for alloc in state.allocs.of_job(key(job_id)) if not alloc.is_terminal]


class ScriptedNode:
    """A node agent that does only what it is told."""

    def __init__(self, server: Server, number: int = 1, **changes: Any) -> None:
        self.node: Node = a_node(number, **changes)
        self._server = server
        self._known: dict[AllocID, int] = {}
        self.allocs: dict[AllocID, ClientAlloc] = {}

    async def join(self) -> NodeRegistered:
        return await self._server.nodes.register(RegisterNode(node=self.node))

    async def beat(self) -> NodeRegistered:
        beat = Heartbeat(node_id=self.node.id, secret_id=self.node.secret_id)
        return await self._server.nodes.heartbeat(beat)

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Beat in time for as long as the block lasts."""

        async def beat() -> None:
            while True:
                answer = await self.beat()
                await asyncio.sleep(answer.heartbeat_ttl / SECOND_NS)

        async with asyncio.TaskGroup() as tasks:
            beats = tasks.create_task(beat())
            yield
            beats.cancel()

    async def look(self, *, wait_s: float = 0) -> list[ClientAlloc]:
        """Ask for what changed, for so long."""
        answer = await self._server.nodes.watch_allocs(
            WatchAllocs(
                node_id=self.node.id,
                secret_id=self.node.secret_id,
                min_index=0,
                wait=round(wait_s * SECOND_NS),
                known=self._known,
            )
        )
        self._known = dict(answer.modify_indexes)
        self.allocs.update({alloc.id: alloc for alloc in answer.changed})
        self.allocs = {alloc_id: self.allocs[alloc_id] for alloc_id in self._known}
        return list(answer.changed)

    async def report(self, alloc_id: str, client_status: str, *, healthy: bool | None = None) -> int:
        """Report one allocation; returns the index at which that is durable."""
        health = AllocDeploymentStatus(healthy=healthy) if healthy is not None else None
        update = AllocUpdate(id=AllocID(alloc_id), client_status=client_status, deployment_status=health)
        request = UpdateAllocs(node_id=self.node.id, secret_id=self.node.secret_id, updates=(update,))
        return (await self._server.nodes.update_allocs(request)).index


async def register(server: Server, job: Job) -> Job:
    """Register a job; gives what is stored."""
    return (await server.jobs.register(job)).job
