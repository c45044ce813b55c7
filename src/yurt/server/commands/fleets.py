"""Fleets: processes that speak for many nodes over one connection."""

from __future__ import annotations

import asyncio

from yurt.model.client_protocol import AllocsUpdated, Heartbeat, RegisterNode
from yurt.model.fleet_protocol import (
    FleetAlloc,
    FleetAllocs,
    FleetBeaten,
    FleetHeartbeat,
    FleetJoined,
    JoinFleet,
    LeaveFleet,
    ReportFleet,
    WatchFleet,
)
from yurt.model.job import Job
from yurt.model.node import NODE_DISCONNECTED, NODE_DOWN, NODE_READY
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID, NodeID
from yurt.server.commands.node_checks import NodeRefused, check_updates
from yurt.server.commands.nodes import NodeCommands, evals_for_reports, reports_of
from yurt.server.context import ServerContext
from yurt.server.heartbeats import HeartbeatTimers
from yurt.state.entries import DeregisterNodes, ReportAllocs
from yurt.state.state import News

ALLOCS_PER_ANSWER_MAX = 5_000
REGISTRATIONS_AT_ONCE = 200
WATCH_WAIT_MAX_S = 300.0


class _Fleet:
    """Nodes that share a process, and what they have not been told yet."""

    def __init__(self) -> None:
        self.secrets: dict[NodeID, str] = {}
        self.pending: dict[AllocID, None] = {}
        self.changed = asyncio.Event()


class FleetCommands:
    """What fleets can ask. A fleet is kept in memory: after a restart of the server it joins anew."""

    def __init__(self, context: ServerContext, nodes: NodeCommands, heartbeats: HeartbeatTimers) -> None:
        self._context = context
        self._nodes = nodes
        self._heartbeats = heartbeats
        self._fleets: dict[str, _Fleet] = {}
        self._of_node: dict[NodeID, _Fleet] = {}

    async def join(self, request: JoinFleet) -> FleetJoined:
        """Register nodes, as each alone would, and remember that they share a process."""
        # A secret, for it is what the fleet proves itself with from here on.
        fleet_id = request.fleet_id or self._context.new_secret()
        for start in range(0, len(request.nodes), REGISTRATIONS_AT_ONCE):
            part = request.nodes[start : start + REGISTRATIONS_AT_ONCE]
            await asyncio.gather(*(self._nodes.register(RegisterNode(node=node)) for node in part))
        fleet = self._fleets.setdefault(fleet_id, _Fleet())
        state = self._context.state
        for node in request.nodes:
            fleet.secrets[node.id] = node.secret_id
            self._of_node[node.id] = fleet
            fleet.pending.update((alloc.id, None) for alloc in state.allocs.of_node(node.id))
        state.allocs.track_changes()
        fleet.changed.set()
        return FleetJoined(fleet_id=fleet_id, heartbeat_ttl=self._beat(fleet, ()))

    async def heartbeat(self, request: FleetHeartbeat) -> FleetBeaten:
        """Note signs of life; nodes that were given up become ready again."""
        fleet = self._fleets.get(request.fleet_id)
        if fleet is None:
            return FleetBeaten(heartbeat_ttl=SECOND_NS, is_known=False)
        nodes = self._context.state.nodes
        silent = frozenset(request.silent)
        returned: list[NodeID] = []
        for node_id, secret in fleet.secrets.items():
            node = nodes.get(node_id)
            if node_id in silent:
                continue
            if node is None:
                return FleetBeaten(heartbeat_ttl=SECOND_NS, is_known=False)
            if node.status != NODE_READY:
                await self._nodes.heartbeat(Heartbeat(node_id=node_id, secret_id=secret))
                returned.append(node_id)
        return FleetBeaten(heartbeat_ttl=self._beat(fleet, silent), returned=tuple(returned))

    async def watch(self, request: WatchFleet) -> FleetAllocs:
        """Give a fleet what changed for its nodes since it asked last."""
        fleet = self._fleets.get(request.fleet_id)
        if fleet is None:
            return FleetAllocs(is_known=False)
        if not fleet.pending:
            fleet.changed.clear()
            try:
                async with asyncio.timeout(min(request.wait / SECOND_NS, WATCH_WAIT_MAX_S)):
                    await fleet.changed.wait()
            except TimeoutError:
                return FleetAllocs()
        return self._take_changes(fleet)

    async def report(self, request: ReportFleet) -> AllocsUpdated:
        """Store what the nodes of a fleet report. Raises NodeRefused."""
        fleet = self._fleets.get(request.fleet_id)
        if fleet is None:
            raise NodeRefused("this fleet is not known; join again")
        check_updates(request.updates)
        context = self._context
        state = context.state
        own = tuple(
            update
            for update in request.updates
            if (alloc := state.allocs.get(update.id)) is not None
            and alloc.node_id in fleet.secrets
            and (node := state.nodes.get(alloc.node_id)) is not None
            and node.status not in (NODE_DOWN, NODE_DISCONNECTED)
        )
        if not own:
            return AllocsUpdated(index=state.index)
        now = context.clock.now_ns()
        evals = evals_for_reports(state, own, now=now, new_id=context.new_id)
        entry = ReportAllocs(at=now, reports=reports_of(own), evals=evals)
        committed = await context.committer.propose(entry)
        return AllocsUpdated(index=committed.index)

    async def leave(self, request: LeaveFleet) -> AllocsUpdated:
        """Forget nodes of a fleet. Raises NodeRefused."""
        fleet = self._fleets.get(request.fleet_id)
        if fleet is None:
            raise NodeRefused("this fleet is not known; join again")
        foreign = [node_id for node_id in request.node_ids if node_id not in fleet.secrets]
        if foreign:
            raise NodeRefused(
                f"node {foreign[0]} is not of this fleet; a fleet speaks for its own nodes only"
            )
        leaving = request.node_ids or tuple(fleet.secrets)
        for node_id in leaving:
            fleet.secrets.pop(node_id, None)
            self._of_node.pop(node_id, None)
            self._heartbeats.forget(node_id)
        if not fleet.secrets:
            del self._fleets[request.fleet_id]
        committed = await self._context.committer.propose(
            DeregisterNodes(at=self._context.clock.now_ns(), node_ids=leaving)
        )
        return AllocsUpdated(index=committed.index)

    def on_news(self, _news: News) -> None:
        """Note for each fleet which of its allocations were changed."""
        if not self._fleets:
            return
        state = self._context.state
        for alloc_id, node_id in state.allocs.take_changes():
            fleet = self._of_node.get(node_id)
            if fleet is not None:
                fleet.pending[alloc_id] = None
                fleet.changed.set()

    def _beat(self, fleet: _Fleet, silent: frozenset[NodeID] | tuple[()]) -> int:
        now, ttl = self._context.clock.monotonic(), 1.0
        for node_id in fleet.secrets:
            if node_id not in silent:
                ttl = self._heartbeats.beat(node_id, now=now)
        return int(ttl * SECOND_NS)

    def _take_changes(self, fleet: _Fleet) -> FleetAllocs:
        state = self._context.state
        jobs: dict[int, tuple[int, Job]] = {}
        allocs: list[FleetAlloc] = []
        removed: list[AllocID] = []
        taken = list(fleet.pending)[:ALLOCS_PER_ANSWER_MAX]
        for alloc_id in taken:
            del fleet.pending[alloc_id]
            alloc = state.allocs.get(alloc_id)
            if alloc is None:
                removed.append(alloc_id)
                continue
            number, _ = jobs.setdefault(id(alloc.job), (len(jobs), alloc.job))
            allocs.append(
                FleetAlloc(
                    id=alloc.id,
                    node_id=alloc.node_id,
                    job=number,
                    task_group=alloc.task_group,
                    name=alloc.name,
                    desired_status=alloc.desired_status,
                    client_status=alloc.client_status,
                    deployment_id=alloc.deployment_id,
                    alloc_modify_index=alloc.alloc_modify_index,
                )
            )
        return FleetAllocs(
            jobs=tuple(job for _, job in jobs.values()), allocs=tuple(allocs), removed=tuple(removed)
        )
