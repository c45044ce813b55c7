"""The node agent: joins the servers, runs what they place here, and finds it again after a restart."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from random import Random
from typing import Any

import msgspec

from yurt.agent.alloc_errors import SnapshotRefused
from yurt.agent.alloc_following import AllocFollower
from yurt.agent.alloc_runner.runner import AllocRunner
from yurt.agent.alloc_set import AllocSet
from yurt.agent.consul.client import ConsulClient
from yurt.agent.consul.registrar import ConsulRegistrar
from yurt.agent.consul.template_data import ConsulData
from yurt.agent.devices.stats import DeviceGroupStats
from yurt.agent.disk_guard import guard_disk
from yurt.agent.drivers import Driver
from yurt.agent.drivers.session import Session
from yurt.agent.garbage_collector import GarbageCollector
from yurt.agent.gauges import alloc_gauges, node_gauges
from yurt.agent.host_volumes import HostVolumes
from yurt.agent.identities import ServerIdentities
from yurt.agent.launcher import LauncherUnavailable
from yurt.agent.migration import snapshot
from yurt.agent.node_changes import NodeChanges
from yurt.agent.node_meta import NodeMeta
from yurt.agent.opening import OpenedNode, open_node
from yurt.agent.registration import Registration
from yurt.agent.server_link import ServerLink
from yurt.agent.services.checks import CheckResult
from yurt.agent.services.registrar import ServerRegistrar
from yurt.agent.settings import ClientSettings
from yurt.agent.task_api import OpenDoor
from yurt.agent.templates.data_watches import DataWatches, TemplateData
from yurt.agent.templates.server_data import ServerData
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.model.client_protocol import ClientAlloc, MakeVolume, Peer, VolumeMade
from yurt.model.migrate_token import is_migrate_token
from yurt.model.node import Node
from yurt.model.resource_usage import AllocResourceUsage
from yurt.model.times import time_text
from yurt.model.wire import AllocID, NodeID
from yurt.observe.host_stats import HostStats, host_stats
from yurt.observe.metrics import Gauge


class ExecDisabled(YurtError):
    """The operator does not let commands be run in tasks of this node."""

    def __init__(self) -> None:
        super().__init__(
            "running commands in tasks is disabled on this node: its operator set client.disable_remote_exec"
        )


def _random_id() -> str:
    return str(uuid.uuid4())


class NodeAgent:
    """One node of the cluster. Make it with `open`, let it `run` until cancelled, then `close` it."""

    def __init__(self, settings: ClientSettings, link: ServerLink, opened: OpenedNode) -> None:
        """Put the parts together; see `open`."""
        node, identity = opened.node, opened.identity
        self._settings = settings
        self._node = node
        self._identity = identity
        self._launcher = opened.launcher
        self._tasks: asyncio.TaskGroup | None = None
        self._allocs = AllocSet(link, identity, node)
        self._follower = AllocFollower(link, identity, node, allocs=self._allocs, launcher=opened.launcher)
        self._garbage = GarbageCollector(node, self._allocs)
        self._registration = Registration(
            link,
            identity,
            node,
            intro_token=settings.intro_token,
            stop_disconnected=self._allocs.stop_disconnected,
            on_peers=self._measure_ways,
        )
        self._changes = NodeChanges(node, renew=self._registration.renew)
        self._volumes = HostVolumes(settings, node.db, node.node, self._volumes_changed)
        self._services = ServerRegistrar(link, identity, clock=node.clock, rng=node.rng)
        node.services = self._services
        self._consul = ConsulClient(settings.consul) if settings.consul.address else None
        data: TemplateData = ServerData(link, identity)
        if self._consul is not None:
            node.consul = ConsulRegistrar(self._consul, identity.node_id, clock=node.clock, rng=node.rng)
            data = ConsulData(self._consul, data)
        node.template_watches = DataWatches(data, clock=node.clock, rng=node.rng)
        node.identities = self._identities = ServerIdentities(link, identity, clock=node.clock)
        node.wait_until_over = self._allocs.wait_until_over
        node.wait_for_previous = self._follower.wait_for_previous

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
        opened = await open_node(settings, clock, rng, drivers=drivers, new_id=new_id)
        return cls(settings, link, opened)

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
        return self._allocs.all

    def alloc(self, alloc_id: AllocID) -> AllocRunner:
        """An allocation on this node. Raises AllocUnknown."""
        return self._allocs.get(alloc_id)

    def alloc_dir(self, alloc_id: AllocID) -> str | None:
        """The directory of an allocation on this node."""
        if alloc_id not in self._allocs.all or not self._node.dirs.exists(alloc_id):
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

    async def device_stats(self) -> tuple[DeviceGroupStats, ...]:
        """What the node's devices are doing."""
        at = time_text(self._node.clock.now_ns()) or ""
        return await asyncio.to_thread(self._node.devices.stats, at)

    async def gauges(self, *, of_node: bool, of_allocs: bool) -> list[Gauge]:
        """What the node and its allocations use, measured now."""
        found: list[Gauge] = []
        if of_node:
            found += node_gauges(self.node, await self.host_stats(), list(self._allocs.all.values()))
        if of_allocs:
            for runner in self._allocs.live:
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
        self._allocs.take_external(alloc)

    async def remove(self, alloc_id: AllocID) -> None:
        """Stop an allocation and wait for its end; one of another control plane is then forgotten.

        Raises AllocUnknown.
        """
        await self._allocs.remove(alloc_id)

    def snapshot(self, alloc_id: AllocID, token: str | None) -> AsyncIterator[bytes]:
        """The data of an allocation that another node may have. Raises AllocUnknown, SnapshotRefused.

        Without a `token` it is for somebody who may have everything.
        """
        if token is not None and not is_migrate_token(token, alloc_id, self._identity.secret_id):
            raise SnapshotRefused
        runner = self.alloc(alloc_id)
        return snapshot(self._node.dirs.path(alloc_id), alloc_id, runner.tasks)

    def checks(self, alloc_id: AllocID) -> dict[str, CheckResult] | None:
        """What the checks of an allocation found, by their ids; None without any. Raises AllocUnknown."""
        return self.alloc(alloc_id).checks

    async def collect(self, alloc_id: AllocID) -> bool:
        """Delete an allocation that is over; False when it still runs, or the servers do not know yet.

        Raises AllocUnknown.
        """
        return await self._garbage.collect(alloc_id)

    async def collect_all(self) -> None:
        """Delete every allocation that is over."""
        await self._garbage.collect_all()

    @property
    def meta(self) -> NodeMeta:
        """The node's metadata, by where it comes from."""
        return self._changes.meta

    def change_meta(self, changes: Mapping[str, str | None]) -> NodeMeta:
        """Change the node's metadata for good; None hides a key. Raises BadMetaKey."""
        return self._changes.change_meta(changes)

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
                self._allocs.begin(tasks)
                found = self._node.db.load()
                self._follower.find_orphans(found, tasks)
                self._allocs.restore(found)
                tasks.create_task(self._prepare_launcher(), name="launcher")
                tasks.create_task(self._node.networks.remove_all_but(list(self._allocs.all)), name="networks")
                await self._volumes.restore()
                tasks.create_task(self._registration.run(), name="registration")
                tasks.create_task(self._follower.run(), name="follow-allocs")
                tasks.create_task(self._allocs.send_reports(), name="reports")
                tasks.create_task(self._send_services(), name="services")
                tasks.create_task(self._changes.watch_drivers(), name="drivers")
                tasks.create_task(self._changes.watch_devices(), name="devices")
                if self._consul is not None and self._node.consul is not None:
                    tasks.create_task(self._node.consul.run(), name="consul")
                    tasks.create_task(self._changes.find_consul(self._consul), name="find-consul")
                tasks.create_task(self._garbage.run(), name="garbage")
                tasks.create_task(guard_disk(self._node, self._allocs), name="disk")
                tasks.create_task(self._allocs.keep_spare_dirs(), name="spare-dirs")
                try:
                    await asyncio.Event().wait()
                finally:
                    if self._settings.dev:
                        await self._allocs.end_all()
        finally:
            self._tasks = None
            self._allocs.end()

    async def close(self) -> None:
        """Let go of everything; in dev mode, end it. Call when `run` has ended."""
        self._node.db.close()
        if self._consul is not None:
            await self._consul.close()
        if self._launcher is not None:
            await self._launcher.shutdown(kill_tasks=self._settings.dev)

    async def _prepare_launcher(self) -> None:
        """Spare the first task the start of the launcher; without one, that task says what is wrong."""
        if self._launcher is not None:
            with contextlib.suppress(LauncherUnavailable):
                await self._launcher.prepare()

    async def _send_services(self) -> None:
        await self._node.server_reached.wait()
        await self._services.run()

    def _measure_ways(self, peers: tuple[Peer, ...]) -> None:
        if self._tasks is not None:
            self._changes.measure_ways(peers, self._tasks)

    def _volumes_changed(self) -> None:
        self._node.node = msgspec.structs.replace(self._node.node, host_volumes=self._volumes.offered)
        self._registration.renew()
