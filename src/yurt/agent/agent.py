"""The node agent: joins the servers, runs what they place here, and finds it again after a restart."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from yurt.agent.alloc_dir import AllocDirs
from yurt.agent.alloc_errors import AllocUnknown, SnapshotRefused
from yurt.agent.alloc_reports import AllocReports
from yurt.agent.alloc_runner.runner import AllocRunner
from yurt.agent.backoff import retry_delay_s
from yurt.agent.consul.client import ConsulClient, ConsulFailed
from yurt.agent.consul.fingerprint import consul_attributes, consul_link
from yurt.agent.consul.registrar import ConsulRegistrar
from yurt.agent.consul.template_data import ConsulData
from yurt.agent.devices.stats import DeviceGroupStats
from yurt.agent.disk_watch import LOOK_INTERVAL_S, USED_PERCENT_MAX, DiskShare, offender, used_bytes
from yurt.agent.driver_watch import fingerprint_drivers, has_changed
from yurt.agent.drivers import Driver, DriverContext, load_drivers
from yurt.agent.drivers.session import Session
from yurt.agent.fingerprint.facts import Probe
from yurt.agent.fingerprint.registry import driver_attributes, fingerprint
from yurt.agent.garbage import DiskUsage, EndedAlloc, disk_usage, is_over_limit, oldest
from yurt.agent.gauges import alloc_gauges, node_gauges
from yurt.agent.host_volumes import HostVolumes
from yurt.agent.identities import ServerIdentities
from yurt.agent.launcher import LauncherClient, LauncherUnavailable, TaskKey
from yurt.agent.migration import snapshot
from yurt.agent.node_context import NodeContext
from yurt.agent.node_identity import NodeIdentity, load_identity
from yurt.agent.node_meta import NodeMeta, load_meta, store_meta
from yurt.agent.orphans import end_orphans, is_beside_task, unknown_keys
from yurt.agent.registration import Registration
from yurt.agent.round_trips import RoundTrips
from yurt.agent.server_link import ServerLink
from yurt.agent.services.checks import CheckResult
from yurt.agent.services.registrar import ServerRegistrar
from yurt.agent.settings import ClientSettings
from yurt.agent.state_db import StateDb
from yurt.agent.task_api import OpenDoor
from yurt.agent.templates.data_watches import DataWatches, TemplateData
from yurt.agent.templates.server_data import ServerData
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.model.alloc import CLIENT_COMPLETE, CLIENT_FAILED
from yurt.model.client_protocol import (
    AllocUpdate,
    ClientAlloc,
    MakeVolume,
    NodeAllocs,
    Peer,
    PreviousAlloc,
    VolumeMade,
    WatchAllocs,
    WatchPrevious,
)
from yurt.model.migrate_token import is_migrate_token
from yurt.model.node import DriverInfo, Node, NodeDeviceResource
from yurt.model.resource_usage import AllocResourceUsage
from yurt.model.times import MINUTE_NS, SECOND_NS, time_text
from yurt.model.wire import AllocID, NodeID
from yurt.observe.host_stats import HostStats, host_stats
from yurt.observe.logger import get_logger
from yurt.observe.metrics import Gauge

WATCH_WAIT = 5 * MINUTE_NS
DRIVER_FINGERPRINT_INTERVAL_S = 30.0
CONSUL_INTERVAL_S = 15.0
# Restored allocations are given this long to reach the servers for the first time.
FIRST_CONTACT_GRACE_S = 50.0
# Looking at the disk takes a thread; counting allocations does not.
DISK_USAGE_AGE_MAX_S = 5.0
MIB = 1 << 20
# A stopping dev agent waits this long for its tasks to end.
KILL_LIMIT_S = 60.0

logger = get_logger("agent")


class ExecDisabled(YurtError):
    """The operator does not let commands be run in tasks of this node."""

    def __init__(self) -> None:
        super().__init__(
            "running commands in tasks is disabled on this node: its operator set client.disable_remote_exec"
        )


class NotRunning(YurtError):
    """The agent takes no work yet, or no more."""

    def __init__(self) -> None:
        super().__init__("the agent is starting or stopping; try again soon")


def _random_id() -> str:
    return str(uuid.uuid4())


class NodeAgent:
    """One node of the cluster. Make it with `open`, let it `run` until cancelled, then `close` it."""

    def __init__(
        self,
        settings: ClientSettings,
        link: ServerLink,
        *,
        node: NodeContext,
        identity: NodeIdentity,
        launcher: LauncherClient | None,
    ) -> None:
        """Put the parts together; see `open`."""
        self._settings = settings
        self._link = link
        self._node = node
        self._identity = identity
        self._launcher = launcher
        self._allocs: dict[AllocID, AllocRunner] = {}
        # What the servers were last told that we have: alloc id → modify index.
        self._seen: dict[AllocID, int] = {}
        self._index = 0
        self._unknown_keys: list[TaskKey] = []
        self._reports = AllocReports(
            link, identity, clock=node.clock, rng=node.rng, on_sent=self._report_sent
        )
        self._registration = Registration(
            link,
            identity,
            node,
            intro_token=settings.intro_token,
            stop_disconnected=self._stop_disconnected,
            on_peers=self._measure_ways,
        )
        self._tasks: asyncio.TaskGroup | None = None
        self._round_trips = RoundTrips(node)
        self._measuring: asyncio.Task[None] | None = None
        self._destroying = asyncio.Semaphore(settings.gc.parallel_destroys)
        self._being_destroyed: set[AllocID] = set()
        self._look_for_garbage = asyncio.Event()
        self._spares_wanted = asyncio.Event()
        self._meta = NodeMeta(node.node.meta or {})
        self._set_meta(load_meta(node.db, self._meta.static))
        self._volumes = HostVolumes(settings, node.db, node.node, self._volumes_changed)
        self._usage: tuple[float, DiskUsage] | None = None
        self._services = ServerRegistrar(link, identity, clock=node.clock, rng=node.rng)
        node.services = self._services
        self._consul = ConsulClient(settings.consul) if settings.consul.address else None
        data: TemplateData = ServerData(link, identity)
        if self._consul is not None:
            node.consul = ConsulRegistrar(self._consul, identity.node_id, clock=node.clock, rng=node.rng)
            data = ConsulData(self._consul, data)
        node.template_watches = DataWatches(data, clock=node.clock, rng=node.rng)
        node.identities = self._identities = ServerIdentities(link, identity, clock=node.clock)
        node.wait_until_over = self._wait_until_over
        node.wait_for_previous = self._wait_for_previous

    @classmethod
    async def open(
        cls,
        settings: ClientSettings,
        link: ServerLink,
        clock: Clock,
        rng: Random,
        *,
        drivers: Mapping[str, Driver] | None = None,
        new_id: Callable[[], str] = _random_id,
    ) -> NodeAgent:
        """Look at the machine and at what an earlier agent left; nothing runs before `run`.

        `drivers` replaces the installed ones; `new_id` makes the id and the secret of a new node. Raises
        a YurtError that says what keeps the agent from starting.
        """
        state_dir = Path(settings.state_dir) if settings.state_dir else None
        identity = await asyncio.to_thread(load_identity, state_dir, new_id)
        dirs = AllocDirs(Path(settings.alloc_dir))
        await asyncio.to_thread(dirs.open)
        launcher = None
        if drivers is None:
            launcher = LauncherClient((state_dir or Path(settings.alloc_dir).parent) / "launcher")
            context = DriverContext(
                launcher=launcher,
                clock=clock,
                options=settings.options,
                cgroup_parent=settings.cgroup_parent,
                chroot_env=settings.chroot_env,
                dev=settings.dev,
            )
            drivers = load_drivers(context, settings.driver_configs)
        infos = await fingerprint_drivers(drivers, clock)
        node = await asyncio.to_thread(
            fingerprint,
            Probe(settings=settings),
            node_id=identity.node_id,
            secret_id=identity.secret_id,
            drivers=infos,
        )
        context_of_node = NodeContext(
            settings,
            node=node,
            drivers=drivers,
            dirs=dirs,
            db=StateDb(state_dir),
            clock=clock,
            rng=rng,
        )
        groups = await asyncio.to_thread(context_of_node.devices.find)
        context_of_node.node = _with_devices(node, groups)
        return cls(settings, link, node=context_of_node, identity=identity, launcher=launcher)

    # --- what the API asks ------------------------------------------------------------------------

    @property
    def node_id(self) -> NodeID:
        """The node's id."""
        return self._identity.node_id

    @property
    def secret_id(self) -> str:
        """What only the node and its servers know."""
        return self._identity.secret_id

    @property
    def node(self) -> Node:
        """The node as it was last found."""
        return self._node.node

    @property
    def allocs(self) -> dict[AllocID, AllocRunner]:
        """The allocations on this node, those that are over included until they are collected."""
        return dict(self._allocs)

    def alloc(self, alloc_id: AllocID) -> AllocRunner:
        """An allocation on this node. Raises AllocUnknown."""
        runner = self._allocs.get(alloc_id)
        if runner is None:
            raise AllocUnknown(alloc_id)
        return runner

    def alloc_dir(self, alloc_id: AllocID) -> str | None:
        """The directory of an allocation on this node."""
        if alloc_id not in self._allocs or not self._node.dirs.exists(alloc_id):
            return None
        return str(self._node.dirs.path(alloc_id))

    async def restart_task(self, alloc_id: AllocID, *, task: str = "", all_tasks: bool = False) -> None:
        """Restart one task, the running ones, or all. Raises a YurtError with the text for the caller."""
        runner = self.alloc(alloc_id)
        if task and all_tasks:
            raise YurtError("task name cannot be set when restarting all tasks")
        if task:
            runner.restart_task(task)
        elif all_tasks:
            runner.restart_all()
        else:
            runner.restart_running()

    async def signal_task(self, alloc_id: AllocID, *, task: str, signal: str) -> None:
        """Signal a task, or all running ones for an empty name. Raises a YurtError."""
        await self.alloc(alloc_id).signal(task, signal)

    async def alloc_usage(self, alloc_id: AllocID, task: str = "") -> AllocResourceUsage:
        """What an allocation's tasks use, or one of them. Raises AllocUnknown."""
        return await self.alloc(alloc_id).usage(task)

    async def host_stats(self) -> HostStats:
        """How busy the machine is."""
        mhz = float(self.node.attributes.get("cpu.frequency") or 0)
        stats = await asyncio.to_thread(host_stats, self._settings.alloc_dir, mhz)
        return msgspec.structs.replace(stats, device_stats=await self.device_stats() or None)

    async def gauges(self, *, of_node: bool, of_allocs: bool) -> list[Gauge]:
        """What the node and its allocations use, measured now."""
        found: list[Gauge] = []
        if of_node:
            found += node_gauges(self.node, await self.host_stats(), list(self._allocs.values()))
        if of_allocs:
            for runner in list(self._allocs.values()):
                if not runner.is_over:
                    found += alloc_gauges(self.node, runner.alloc, await runner.usage())
        return found

    async def open_session(
        self, alloc_id: AllocID, *, task: str, argv: tuple[str, ...], tty: bool
    ) -> Session:
        """Run a command beside a task, with its streams open. Raises a YurtError."""
        if self._settings.disable_remote_exec:
            raise ExecDisabled
        return await self.alloc(alloc_id).open_session(task, argv, tty=tty)

    def take_external(self, alloc: ClientAlloc) -> None:
        """Run an allocation of another control plane; one that is here already goes on as it is.

        Raises NotRunning before the agent runs.
        """
        if self._tasks is None:
            raise NotRunning
        if alloc.id not in self._allocs:
            self._take(alloc)

    async def remove(self, alloc_id: AllocID) -> None:
        """Stop an allocation and wait for its end; one of another control plane is then forgotten.

        Raises AllocUnknown.
        """
        runner = self.alloc(alloc_id)
        runner.stop(skip_delays=True)
        await runner.wait_until_over()
        if runner.alloc.is_external:
            await self._destroy(runner)

    def checks(self, alloc_id: AllocID) -> dict[str, CheckResult] | None:
        """What the checks of an allocation found, by their ids; None without any. Raises AllocUnknown."""
        return self.alloc(alloc_id).checks

    async def collect(self, alloc_id: AllocID) -> bool:
        """Delete an allocation that is over; False when it still runs, or the servers do not know yet.

        Raises AllocUnknown.
        """
        runner = self.alloc(alloc_id)
        if runner not in self._ended():
            return False
        await self._destroy(runner)
        return True

    async def collect_all(self) -> None:
        """Delete every allocation that is over."""
        await asyncio.gather(*(self._destroy(runner) for runner in self._ended()))

    @property
    def meta(self) -> NodeMeta:
        """The node's metadata, by where it comes from."""
        return self._meta

    def change_meta(self, changes: Mapping[str, str | None]) -> NodeMeta:
        """Change the node's metadata for good; None hides a key. Raises BadMetaKey."""
        self._set_meta(self._meta.changed(changes))
        store_meta(self._node.db, self._meta)
        self._registration.renew()
        return self._meta

    def serve_tasks(self, open_door: OpenDoor) -> None:
        """Serve tasks the API on their own sockets. Call before `run`."""
        self._node.task_api = open_door

    async def identity_claims(self) -> dict[str, Any]:
        """What the node's own token says. Raises YurtError."""
        return await self._identities.own_claims()

    async def renew_identity(self) -> None:
        """Get a new token for the node. Raises YurtError."""
        await self._identities.renew_own()

    async def create_volume(self, asked: MakeVolume) -> VolumeMade:
        """Make a volume on this node, and offer it. Raises VolumeFailed."""
        return await self._volumes.create(asked)

    async def delete_volume(self, volume_id: str) -> None:
        """Delete a volume of this node with its data. Raises VolumeFailed."""
        await self._volumes.delete(volume_id)

    def use_tls_for_peers(self, context: Callable[[], ssl.SSLContext | None]) -> None:
        """Ask for a TLS context whenever another node is called; None is the machine's own."""
        self._node.peer_tls = context

    # --- its life ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """Run the node until cancelled. Its tasks then go on, except in dev mode."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                self._restore()
                tasks.create_task(self._prepare_launcher(), name="launcher")
                tasks.create_task(self._node.networks.remove_all_but(list(self._allocs)), name="networks")
                await self._volumes.restore()
                tasks.create_task(self._registration.run(), name="registration")
                tasks.create_task(self._follow_allocs(), name="follow-allocs")
                tasks.create_task(self._send_reports(), name="reports")
                tasks.create_task(self._send_services(), name="services")
                tasks.create_task(self._watch_drivers(), name="drivers")
                tasks.create_task(self._watch_devices(), name="devices")
                if self._consul is not None and self._node.consul is not None:
                    tasks.create_task(self._node.consul.run(), name="consul")
                    tasks.create_task(self._find_consul(self._consul), name="find-consul")
                tasks.create_task(self._collect_garbage(), name="garbage")
                tasks.create_task(self._watch_disk(), name="disk")
                tasks.create_task(self._keep_spare_dirs(), name="spare-dirs")
                try:
                    await asyncio.Event().wait()
                finally:
                    if self._settings.dev:
                        await self._end_allocs()
        finally:
            self._tasks = None

    async def _prepare_launcher(self) -> None:
        """Spare the first task the start of the launcher; without one, that task says what is wrong."""
        if self._launcher is not None:
            with contextlib.suppress(LauncherUnavailable):
                await self._launcher.prepare()

    async def close(self) -> None:
        """Let go of everything; in dev mode, end it. Call when `run` has ended."""
        self._node.db.close()
        if self._consul is not None:
            await self._consul.close()
        if self._launcher is not None:
            await self._launcher.shutdown(kill_tasks=self._settings.dev)

    async def _end_allocs(self) -> None:
        """Kill all tasks without delays, and delete their directories."""
        try:
            async with asyncio.timeout(KILL_LIMIT_S):
                for runner in self._allocs.values():
                    runner.stop(skip_delays=True)
                await asyncio.gather(*(self._destroy(runner) for runner in list(self._allocs.values())))
                if self._node.consul is not None:
                    await self._node.consul.flush()
        except TimeoutError:
            logger.warning("tasks.still_running", allocs=len(self._allocs))

    def _restore(self) -> None:
        """Take up the allocations of an earlier agent."""
        assert self._tasks is not None
        found = self._node.db.load()
        if self._launcher is not None:
            unknown = unknown_keys(self._launcher.keys(), found)
            self._unknown_keys = [key for key in unknown if not is_beside_task(key)]
            beside = [key for key in unknown if is_beside_task(key)]
            self._tasks.create_task(end_orphans(self._launcher, beside, set()), name="end-sessions")
        for stored in found:
            alloc = stored.record.alloc
            if not stored.tasks or alloc.job.group(alloc.task_group) is None:
                # It died before anything was started; the servers will hand the allocation out again.
                self._node.db.forget_alloc(alloc.id)
                continue
            runner = AllocRunner(alloc, node=self._node, stored=stored, on_change=self._alloc_changed)
            self._seen[alloc.id] = alloc.alloc_modify_index
            self._allocs[alloc.id] = runner
            if runner.is_over:
                # The agent may have died between the tasks' end and the cleaning up.
                assert self._tasks is not None
                self._tasks.create_task(runner.clean_up(), name=f"clean up {alloc.id}")
            else:
                self._start(runner)
            if stored.acknowledged == runner.status.status:
                self._reports.assume(alloc.id, status=stored.acknowledged, health=runner.health)
            else:
                self._alloc_changed(runner)
        if self._allocs:
            logger.info("allocs.restored", allocs=len(self._allocs))

    async def _follow_allocs(self) -> None:
        """Take over what the servers place here, until cancelled."""
        await self._node.server_reached.wait()
        failures = 0
        while True:
            request = WatchAllocs(
                node_id=self._identity.node_id,
                secret_id=self._identity.secret_id,
                min_index=self._index,
                wait=WATCH_WAIT,
                known=self._seen,
            )
            try:
                answer = await self._link.watch_allocs(request)
            except YurtError as error:
                failures += 1
                logger.warning("allocs.not_followed", error=str(error))
                await self._node.clock.sleep(retry_delay_s(failures, self._node.rng))
                continue
            failures = 0
            self._apply(answer)
            if self._unknown_keys and self._launcher is not None:
                await end_orphans(self._launcher, self._unknown_keys, answer.modify_indexes.keys())
                self._unknown_keys = []

    def _apply(self, answer: NodeAllocs) -> None:
        """Bring the allocations here in line with the servers' list."""
        self._index = answer.index
        for alloc in answer.changed:
            self._seen[alloc.id] = alloc.alloc_modify_index
            self._take(alloc)
        self._seen = {id_: index for id_, index in self._seen.items() if id_ in answer.modify_indexes}
        for alloc_id, runner in list(self._allocs.items()):
            if alloc_id not in answer.modify_indexes and not runner.alloc.is_external:
                runner.stop()
                self._spawn_destroy(runner)
        self._reports.retain(answer.modify_indexes)
        if self._node.dirs.wants_refill:
            self._spares_wanted.set()
        self._look_for_garbage.set()

    def _take(self, alloc: ClientAlloc) -> None:
        """Take over an allocation, new or changed. One that cannot run here is reported as failed."""
        runner = self._allocs.get(alloc.id)
        if alloc.job.group(alloc.task_group) is None:
            self._refuse(alloc, f'job "{alloc.job.id}" has no group "{alloc.task_group}"')
        elif runner is not None:
            runner.update(alloc)
        elif alloc.client_status not in (CLIENT_COMPLETE, CLIENT_FAILED):
            runner = AllocRunner(alloc, node=self._node, stored=None, on_change=self._alloc_changed)
            self._allocs[alloc.id] = runner
            self._start(runner)

    def _refuse(self, alloc: ClientAlloc, reason: str) -> None:
        logger.error("alloc.refused", alloc_id=alloc.id, reason=reason)
        update = AllocUpdate(id=alloc.id, client_status=CLIENT_FAILED, client_description=reason)
        self._reports.put(alloc.id, lambda: update, status=CLIENT_FAILED, health=None)

    def _start(self, runner: AllocRunner) -> None:
        assert self._tasks is not None
        self._tasks.create_task(self._run_alloc(runner), name=f"alloc {runner.alloc.id}")

    async def _run_alloc(self, runner: AllocRunner) -> None:
        try:
            await runner.run()
        except Exception as error:
            logger.exception("alloc.runner_failed", alloc_id=runner.alloc.id)
            runner.fail(f"{type(error).__name__}: {error}")
        self._look_for_garbage.set()

    def _alloc_changed(self, runner: AllocRunner) -> None:
        if runner.alloc.is_external:
            return
        self._reports.put(runner.alloc.id, runner.report, status=runner.status.status, health=runner.health)

    def _report_sent(self, alloc_id: AllocID, status: str) -> None:
        self._node.db.put_acknowledged(alloc_id, status)
        self._look_for_garbage.set()

    async def _send_reports(self) -> None:
        await self._node.server_reached.wait()
        await self._reports.run()

    async def _send_services(self) -> None:
        await self._node.server_reached.wait()
        await self._services.run()

    async def _wait_until_over(self, alloc_id: AllocID) -> bool:
        runner = self._allocs.get(alloc_id)
        if runner is None:
            return False
        await runner.wait_until_over()
        return True

    async def _wait_for_previous(self, alloc_id: AllocID) -> PreviousAlloc:
        """Wait for the end of the allocation on another node that one here replaces."""
        await self._node.server_reached.wait()
        failures = 0
        while True:
            request = WatchPrevious(
                node_id=self._identity.node_id,
                secret_id=self._identity.secret_id,
                alloc_id=alloc_id,
                wait=WATCH_WAIT,
            )
            try:
                answer = await self._link.watch_previous(request)
            except YurtError as error:
                failures += 1
                logger.warning("previous_alloc.not_followed", alloc_id=alloc_id, error=str(error))
                await self._node.clock.sleep(retry_delay_s(failures, self._node.rng))
                continue
            if answer.is_over:
                return answer

    def snapshot(self, alloc_id: AllocID, token: str) -> AsyncIterator[bytes]:
        """The data of an allocation that another node may have. Raises AllocUnknown, SnapshotRefused."""
        if not is_migrate_token(token, alloc_id, self._identity.secret_id):
            raise SnapshotRefused
        runner = self.alloc(alloc_id)
        return snapshot(self._node.dirs.path(alloc_id), alloc_id, runner.tasks)

    def _measure_ways(self, peers: tuple[Peer, ...]) -> None:
        """Measure the ways to other nodes, one round at a time."""
        if self._tasks is not None and (self._measuring is None or self._measuring.done()):
            self._measuring = self._tasks.create_task(self._measure(peers), name="round-trips")

    async def _measure(self, peers: tuple[Peer, ...]) -> None:
        if await self._round_trips.measure(peers):
            self._registration.renew()

    def _stop_disconnected(self, silent_s: float) -> None:
        """Stop the allocations that must not go on without the servers for so long."""
        grace_s = 0.0 if self._node.server_reached.is_set() else FIRST_CONTACT_GRACE_S
        for runner in self._allocs.values():
            limit = runner.stop_on_disconnect
            if limit is None or runner.is_over:
                continue
            if silent_s > max(limit / SECOND_NS, grace_s):
                logger.warning("alloc.stopped_disconnected", alloc_id=runner.alloc.id, silent_s=silent_s)
                runner.stop()

    # --- the node ---------------------------------------------------------------------------------

    def _volumes_changed(self) -> None:
        self._node.node = msgspec.structs.replace(self._node.node, host_volumes=self._volumes.offered)
        self._registration.renew()

    def _set_meta(self, meta: NodeMeta) -> None:
        self._meta = meta
        self._node.node = msgspec.structs.replace(self._node.node, meta=meta.merged)

    async def _watch_drivers(self) -> None:
        while True:
            await self._node.clock.sleep(DRIVER_FINGERPRINT_INTERVAL_S)
            infos = await fingerprint_drivers(self._node.drivers, self._node.clock)
            if has_changed(self._node.node.drivers or {}, infos):
                self._node.node = _with_drivers(self._node.node, infos)
                self._registration.renew()

    async def _watch_devices(self) -> None:
        devices = self._node.devices
        while True:
            await self._node.clock.sleep(devices.options.fingerprint_period)
            groups = await asyncio.to_thread(devices.find)
            if groups != (self._node.node.node_resources.devices or ()):
                logger.info("devices.changed", groups=[group.name for group in groups])
                self._node.node = _with_devices(self._node.node, groups)
                self._registration.renew()

    async def device_stats(self) -> tuple[DeviceGroupStats, ...]:
        """What the node's devices are doing."""
        at = time_text(self._node.clock.now_ns()) or ""
        return await asyncio.to_thread(self._node.devices.stats, at)

    async def _find_consul(self, client: ConsulClient) -> None:
        """Ask Consul who it is, until it has answered once."""
        while True:
            try:
                found = await client.agent()
            except ConsulFailed as error:
                logger.info("consul.not_found", error=str(error))
                await self._node.clock.sleep(CONSUL_INTERVAL_S)
                continue
            node = self._node.node
            self._node.node = msgspec.structs.replace(
                node,
                attributes=node.attributes | consul_attributes(found),
                links=(node.links or {}) | {"consul": consul_link(found)},
            )
            self._registration.renew()
            return

    async def _keep_spare_dirs(self) -> None:
        """Make spare directories whenever they run low, until cancelled."""
        while True:
            await asyncio.to_thread(self._node.dirs.refill)
            self._spares_wanted.clear()
            await self._spares_wanted.wait()

    # --- garbage ----------------------------------------------------------------------------------

    def _ended(self) -> list[AllocRunner]:
        """What may be deleted. An end that the servers do not know of yet would be forgotten with it."""
        return [
            runner
            for alloc_id, runner in self._allocs.items()
            if runner.is_over
            and alloc_id not in self._being_destroyed
            and self._reports.acknowledged(alloc_id) == runner.status.status
        ]

    async def _collect_garbage(self) -> None:
        """Delete ended allocations, oldest first, while there is too little room; until cancelled."""
        interval_s = self._settings.gc.interval / SECOND_NS
        while True:
            due = asyncio.ensure_future(self._look_for_garbage.wait())
            try:
                await self._node.sleep_until_done(interval_s, due)
            finally:
                due.cancel()
            self._look_for_garbage.clear()
            while ended := self._ended():
                count = len(self._allocs) - len(self._being_destroyed)
                if not is_over_limit(self._settings.gc, await self._disk_usage(), allocs=count):
                    break
                finished = [EndedAlloc(runner.alloc.id, runner.finished_ns) for runner in ended]
                await self._destroy(self._allocs[oldest(finished)])

    async def _watch_disk(self) -> None:
        """End the allocation that uses too much when the disk is nearly full; until cancelled."""
        while True:
            await self._node.clock.sleep(LOOK_INTERVAL_S)
            usage = await asyncio.to_thread(disk_usage, self._settings.alloc_dir)
            if usage.used_percent < USED_PERCENT_MAX:
                continue
            running = [runner for runner in self._allocs.values() if not runner.is_over]
            worst = offender(await asyncio.to_thread(self._disk_shares, running))
            if worst is None or worst.alloc_id not in self._allocs:
                continue
            used_mb, limit_mb = worst.used // MIB, worst.limit // MIB
            logger.warning("alloc.fills_disk", alloc_id=worst.alloc_id, used_mb=used_mb, limit_mb=limit_mb)
            self._allocs[worst.alloc_id].end_for_disk(used_mb=used_mb, limit_mb=limit_mb)

    def _disk_shares(self, runners: list[AllocRunner]) -> list[DiskShare]:
        return [
            DiskShare(
                alloc_id=runner.alloc.id,
                used=used_bytes(str(self._node.dirs.path(runner.alloc.id))),
                limit=runner.alloc.resources.shared.disk_mb * MIB,
            )
            for runner in runners
        ]

    async def _disk_usage(self) -> DiskUsage:
        now = self._node.clock.monotonic()
        if self._usage is None or now - self._usage[0] > DISK_USAGE_AGE_MAX_S:
            self._usage = (now, await asyncio.to_thread(disk_usage, self._settings.alloc_dir))
        return self._usage[1]

    def _spawn_destroy(self, runner: AllocRunner) -> None:
        assert self._tasks is not None
        if runner.alloc.id not in self._being_destroyed:
            self._tasks.create_task(self._destroy(runner), name=f"destroy {runner.alloc.id}")

    async def _destroy(self, runner: AllocRunner) -> None:
        """Wait for the end of an allocation, then delete its directory and all memory of it."""
        alloc_id = runner.alloc.id
        if alloc_id in self._being_destroyed:
            return
        self._being_destroyed.add(alloc_id)
        try:
            await runner.wait_until_over()
            async with self._destroying:
                await asyncio.to_thread(self._node.dirs.destroy, alloc_id)
        finally:
            self._being_destroyed.discard(alloc_id)
        self._node.db.forget_alloc(alloc_id)
        self._allocs.pop(alloc_id, None)


def _with_devices(node: Node, groups: tuple[NodeDeviceResource, ...]) -> Node:
    resources = msgspec.structs.replace(node.node_resources, devices=groups or None)
    return msgspec.structs.replace(node, node_resources=resources)


def _with_drivers(node: Node, infos: dict[str, DriverInfo]) -> Node:
    """The node with its drivers as they are now, attributes included."""
    stale = driver_attributes(node.drivers or {}).keys()
    attributes = {name: value for name, value in node.attributes.items() if name not in stale}
    return msgspec.structs.replace(node, drivers=infos, attributes=attributes | driver_attributes(infos))
