"""A fleet of simulated nodes: joins, beats, takes allocations, reports."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import ssl
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import aiohttp
import msgspec

from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_RUNNING,
    DESIRED_RUN,
    AllocDeploymentStatus,
)
from yurt.model.client_protocol import AllocsUpdated, AllocUpdate
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
from yurt.model.job import SERVICE, SYSTEM, Job
from yurt.model.node import Node
from yurt.model.task_state import TASK_DEAD, TASK_RUNNING, TaskEvent, TaskState
from yurt.model.times import SECOND_NS, time_text
from yurt.model.wire import AllocID, NodeID
from yurt.observe.logger import get_logger
from yurt.sim.nodes.behaviour import START_S, STOP_S, Behaviour, Behaviours

NODES_PER_JOIN = 1_000
REPORTS_PER_CALL_MAX = 5_000
WATCH_WAIT_S = 30.0
RETRY_S = 1.0
RETURN_S = 0.6
IDLE_S = 60.0
CALL_TIMEOUT_S = 90.0

logger = get_logger("sim")

_A = TypeVar("_A")


class FleetRefused(YurtError):
    """The server will not do what the fleet asks."""


class FleetLink(Protocol):
    """How a fleet reaches a server."""

    async def join(self, request: JoinFleet) -> FleetJoined:
        """Register nodes."""

    async def heartbeat(self, request: FleetHeartbeat) -> FleetBeaten:
        """Show that nodes live."""

    async def watch(self, request: WatchFleet) -> FleetAllocs:
        """Wait for changed allocations."""

    async def report(self, request: ReportFleet) -> AllocsUpdated:
        """Report on allocations."""

    async def leave(self, request: LeaveFleet) -> AllocsUpdated:
        """Forget nodes."""


class HttpFleetLink:
    """A fleet's calls over HTTP, on connections that are kept."""

    def __init__(self, address: str, *, tls: ssl.SSLContext | None = None, server_name: str = "") -> None:
        """Take a server's `host:port`; `tls` switches to https and looks for `server_name`."""
        self.address = address
        self._base = f"{'https' if tls else 'http'}://{address}/rpc/v1/"
        self._tls = tls
        self._server_name = server_name if tls else None
        self._session: aiohttp.ClientSession | None = None

    async def join(self, request: JoinFleet) -> FleetJoined:
        """Register nodes."""
        return await self._call("join-fleet", request, FleetJoined)

    async def heartbeat(self, request: FleetHeartbeat) -> FleetBeaten:
        """Show that nodes live."""
        return await self._call("fleet-heartbeat", request, FleetBeaten)

    async def watch(self, request: WatchFleet) -> FleetAllocs:
        """Wait for changed allocations."""
        return await self._call("watch-fleet", request, FleetAllocs)

    async def report(self, request: ReportFleet) -> AllocsUpdated:
        """Report on allocations."""
        return await self._call("report-fleet", request, AllocsUpdated)

    async def leave(self, request: LeaveFleet) -> AllocsUpdated:
        """Forget nodes."""
        return await self._call("leave-fleet", request, AllocsUpdated)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _call(self, name: str, request: msgspec.Struct, answer: type[_A]) -> _A:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CALL_TIMEOUT_S))
        body = msgspec.msgpack.encode(request)
        async with self._session.post(
            self._base + name, data=body, ssl=self._tls or True, server_hostname=self._server_name
        ) as response:
            data = await response.read()
            if response.status != 200:
                raise FleetRefused(f"{name}: status {response.status}: {data[:500].decode(errors='replace')}")
            return msgspec.msgpack.decode(data, type=answer)


class _Running:
    __slots__ = ("alloc", "behaviour", "is_judged", "job", "started_ns")

    def __init__(self, alloc: FleetAlloc, job: Job, behaviour: Behaviour) -> None:
        self.alloc = alloc
        self.job = job
        self.behaviour = behaviour
        self.started_ns = 0
        # Whether its health was told, in the deployment it belongs to now.
        self.is_judged = False

    @property
    def is_watched(self) -> bool:
        """Whether somebody waits to hear of its health: a deployment, or whoever drains nodes."""
        if self.behaviour.healthy is None or self.is_judged:
            return False
        return self.job.type == SERVICE or (self.job.type == SYSTEM and bool(self.alloc.deployment_id))


class Fleet:
    """Simulated nodes of one process."""

    def __init__(self, nodes: Sequence[Node], behaviours: Behaviours, link: FleetLink, clock: Clock) -> None:
        self._nodes = {node.id: node for node in nodes}
        self._behaviours = behaviours
        self._link = link
        self._clock = clock
        self._fleet_id = ""
        self._silent: set[NodeID] = set()
        self._running: dict[AllocID, _Running] = {}
        # (due, order, what to do): everything that happens later.
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._wake = asyncio.Event()
        self._reports: dict[AllocID, AllocUpdate] = {}
        self._has_reports = asyncio.Event()
        self.joined = asyncio.Event()

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self._nodes)

    @property
    def allocs(self) -> int:
        """How many allocations run or wait to."""
        return len(self._running)

    async def run(self) -> None:
        """Join, then live until cancelled."""
        await self._join()
        async with asyncio.TaskGroup() as duties:
            duties.create_task(self._beat(), name="heartbeats")
            duties.create_task(self._watch(), name="watch")
            duties.create_task(self._report(), name="report")
            duties.create_task(self._keep_time(), name="timers")

    async def leave(self) -> None:
        """Deregister all nodes."""
        await self._link.leave(LeaveFleet(fleet_id=self._fleet_id))

    def silence(self, node_ids: Sequence[NodeID]) -> None:
        """Let nodes fall silent: no heartbeats, no reports."""
        self._silent.update(node_ids)

    def wake(self, node_ids: Sequence[NodeID]) -> None:
        """Let silent nodes come back, and report what still runs on them."""
        self._silent.difference_update(node_ids)
        self._tell_again(frozenset(node_ids))

    def _tell_again(self, back: frozenset[NodeID]) -> None:
        for running in list(self._running.values()):
            if running.alloc.node_id in back and running.started_ns:
                self._tell(running, CLIENT_RUNNING)

    async def _join(self) -> None:
        nodes = list(self._nodes.values())
        self._fleet_id = ""
        for start in range(0, len(nodes), NODES_PER_JOIN):
            part = tuple(nodes[start : start + NODES_PER_JOIN])
            joined = await self._link.join(JoinFleet(nodes=part, fleet_id=self._fleet_id))
            self._fleet_id = joined.fleet_id
        self.joined.set()

    async def _beat(self) -> None:
        while True:
            delay_s = RETRY_S
            try:
                silent = tuple(self._silent)
                beaten = await self._link.heartbeat(FleetHeartbeat(fleet_id=self._fleet_id, silent=silent))
                if not beaten.is_known:
                    await self._join()
                    continue
                self._tell_again(frozenset(beaten.returned))
                delay_s = beaten.heartbeat_ttl / SECOND_NS / 2
                if beaten.returned:
                    # Some are ready only once they have reported on their work.
                    delay_s = min(delay_s, RETURN_S)
            except (aiohttp.ClientError, TimeoutError, FleetRefused) as error:
                logger.warning("heartbeat.failed", error=str(error))
            await self._clock.sleep(delay_s)

    async def _watch(self) -> None:
        while True:
            try:
                answer = await self._link.watch(
                    WatchFleet(fleet_id=self._fleet_id, wait=int(WATCH_WAIT_S * SECOND_NS))
                )
            except (aiohttp.ClientError, TimeoutError, FleetRefused) as error:
                logger.warning("watch.failed", error=str(error))
                await self._clock.sleep(RETRY_S)
                continue
            if not answer.is_known:
                await self._clock.sleep(RETRY_S)  # the heartbeat joins anew
                continue
            for alloc in answer.allocs:
                self._take(alloc, answer.jobs[alloc.job])
            for alloc_id in answer.removed:
                self._running.pop(alloc_id, None)

    def _take(self, alloc: FleetAlloc, job: Job) -> None:
        running = self._running.get(alloc.id)
        if alloc.desired_status != DESIRED_RUN:
            if alloc.client_status == CLIENT_LOST:
                # The servers have given it up; it is just gone.
                self._running.pop(alloc.id, None)
            elif running is not None or alloc.client_status in ("pending", "running", "unknown"):
                stopped = running or _Running(alloc, job, Behaviour())
                self._after(STOP_S, lambda: self._end(stopped, CLIENT_COMPLETE, 0))
            return
        if running is not None:
            is_moved = alloc.deployment_id != running.alloc.deployment_id
            running.alloc, running.job = alloc, job
            if is_moved:
                running.is_judged = False
                self._judge_after(STOP_S, running)
            return
        if alloc.client_status in (CLIENT_COMPLETE, CLIENT_FAILED, CLIENT_LOST):
            return
        node = self._nodes[alloc.node_id]
        behaviour = self._behaviours.decide(
            job=job, group=alloc.task_group, name=alloc.name, node_name=node.name
        )
        running = self._running[alloc.id] = _Running(alloc, job, behaviour)
        if behaviour.starts:
            self._after(START_S, lambda: self._start(running))

    def _start(self, running: _Running) -> None:
        if running.alloc.id not in self._running:
            return
        behaviour = running.behaviour
        if behaviour.start_error:
            self._end(running, CLIENT_FAILED, 1)
            return
        running.started_ns = self._clock.now_ns()
        self._tell(running, CLIENT_RUNNING)
        if behaviour.ends_after_s is not None:
            status = CLIENT_FAILED if behaviour.exit_code else CLIENT_COMPLETE
            self._after(behaviour.ends_after_s, lambda: self._end(running, status, behaviour.exit_code))
        self._judge_after(behaviour.healthy_after_s, running)

    def _judge_after(self, delay_s: float, running: _Running) -> None:
        if running.started_ns and running.is_watched:
            self._after(delay_s, lambda: self._tell_health(running))

    def _end(self, running: _Running, status: str, exit_code: int) -> None:
        if self._running.pop(running.alloc.id, None) is None and running.started_ns:
            return
        health = None
        if status == CLIENT_FAILED and running.alloc.deployment_id and not running.is_judged:
            health = AllocDeploymentStatus(healthy=False, timestamp=time_text(self._clock.now_ns()))
        self._tell(running, status, exit_code=exit_code, health=health)

    def _tell_health(self, running: _Running) -> None:
        if running.alloc.id not in self._running or running.is_judged:
            return
        running.is_judged = True
        health = AllocDeploymentStatus(
            healthy=running.behaviour.healthy, timestamp=time_text(self._clock.now_ns())
        )
        self._tell(running, CLIENT_RUNNING, health=health)

    def _tell(
        self,
        running: _Running,
        status: str,
        *,
        exit_code: int = 0,
        health: AllocDeploymentStatus | None = None,
    ) -> None:
        alloc = running.alloc
        if alloc.node_id in self._silent:
            return
        before = self._reports.get(alloc.id)
        self._reports[alloc.id] = AllocUpdate(
            id=alloc.id,
            client_status=status,
            client_description=_DESCRIPTIONS[status],
            task_states=self._task_states(running, status, exit_code),
            deployment_status=health or (before.deployment_status if before is not None else None),
            modify_time=self._clock.now_ns(),
        )
        self._has_reports.set()

    def _task_states(self, running: _Running, status: str, exit_code: int) -> dict[str, TaskState]:
        group = running.job.group(running.alloc.task_group)
        now = self._clock.now_ns()
        events = [
            TaskEvent(type="Received", time=running.started_ns or now),
            TaskEvent(type="Started", time=running.started_ns or now),
        ]
        is_over = status != CLIENT_RUNNING
        if is_over:
            events.append(
                TaskEvent(
                    type="Terminated",
                    time=now,
                    exit_code=exit_code,
                    details={"exit_code": str(exit_code), "oom_killed": "false", "signal": "0"},
                )
            )
        state = TaskState(
            state=TASK_DEAD if is_over else TASK_RUNNING,
            failed=status == CLIENT_FAILED,
            started_at=time_text(running.started_ns or now),
            finished_at=time_text(now) if is_over else None,
            events=tuple(events),
        )
        return {task.name: state for task in group.tasks} if group is not None else {}

    async def _report(self) -> None:
        while True:
            await self._has_reports.wait()
            self._has_reports.clear()
            while self._reports:
                batch = dict(list(self._reports.items())[:REPORTS_PER_CALL_MAX])
                for alloc_id in batch:
                    del self._reports[alloc_id]
                try:
                    await self._link.report(
                        ReportFleet(fleet_id=self._fleet_id, updates=tuple(batch.values()))
                    )
                except (aiohttp.ClientError, TimeoutError, FleetRefused) as error:
                    logger.warning("report.failed", error=str(error))
                    # What was told meanwhile is newer.
                    self._reports = {**batch, **self._reports}
                    await self._clock.sleep(RETRY_S)

    def _after(self, delay_s: float, what: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._later, (self._clock.monotonic() + delay_s, self._order, what))
        self._wake.set()

    async def _keep_time(self) -> None:
        while True:
            self._wake.clear()
            while self._later and self._later[0][0] <= self._clock.monotonic():
                heapq.heappop(self._later)[-1]()
            due_s = self._later[0][0] - self._clock.monotonic() if self._later else IDLE_S
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(due_s):
                    await self._wake.wait()


_DESCRIPTIONS = {
    CLIENT_RUNNING: "Tasks are running",
    CLIENT_COMPLETE: "All tasks have completed",
    CLIENT_FAILED: "Failed tasks",
}
