"""A server: State, its log, and everything that moves them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random

from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.log.contract import Log
from yurt.log.memory import MemoryLog
from yurt.log.snapshot_format import SnapshotHeader
from yurt.log.sqlite import SqliteLog
from yurt.observe.logger import get_logger
from yurt.server.archive import ArchiveMeta, read_archive, write_archive
from yurt.server.auth import Authority
from yurt.server.broker import Broker
from yurt.server.commands.fleets import FleetCommands
from yurt.server.commands.jobs import JobCommands
from yurt.server.commands.keyring import KeyringCommands
from yurt.server.commands.nodes import NodeCommands
from yurt.server.committer import Committer
from yurt.server.context import ServerContext
from yurt.server.heartbeats import HeartbeatTimers
from yurt.server.identities import Identities
from yurt.server.introductions import Introductions
from yurt.server.leader import Leader
from yurt.server.plan_applier import PlanApplier
from yurt.server.push.client import PushClient
from yurt.server.push.deliverer import Deliverer
from yurt.server.push.nodes import PushNodes
from yurt.server.restore import restore
from yurt.server.settings import ServerSettings
from yurt.server.snapshots import STATE_KIND, Snapshotter
from yurt.server.worker import Worker
from yurt.server.wrapping_key import WrappingKey, load_wrapping_key
from yurt.state.entries import SetSchedulerConfiguration
from yurt.state.snapshot import dump, row_counts
from yurt.state.state import State

# Where a server keeps its wrapping key, in its data directory.
KEYSTORE = "keystore"

logger = get_logger("server")


class Server:
    """One server, alone or the leader of several.

    `open` restores what the data directory holds; `run` works until cancelled; `close` ends cleanly.
    """

    def __init__(
        self,
        settings: ServerSettings,
        log: Log,
        state: State,
        clock: Clock,
        rng: Random,
        *,
        wrapping: WrappingKey | None = None,
    ) -> None:
        self.settings = settings
        self.log = log
        self.clock = clock
        self.committer = Committer(state, log)
        self.context = ServerContext(
            self.committer,
            clock,
            rng,
            region=settings.region,
            job_versions_kept=settings.job_versions_kept,
            wrapping=wrapping,
        )
        self.identities = Identities(self.context, issuer=settings.oidc_issuer)
        self.keyring = KeyringCommands(self.context)
        self._broker = Broker(self.context.new_id)
        self._applier = PlanApplier(
            self.committer, clock, self.context.new_id, rejections=settings.plan_rejections
        )
        self.heartbeats = heartbeats = HeartbeatTimers(
            min_ttl_s=settings.min_heartbeat_ttl_s,
            grace_s=settings.heartbeat_grace_s,
            max_per_second=settings.max_heartbeats_per_second,
        )
        self.introductions = Introductions(
            self.context, self.identities, settings.introductions, is_acl_enabled=settings.acl.is_enabled
        )
        self.authority = Authority(
            self.context, is_enabled=settings.acl.is_enabled, verify_identity=self.identities.verify
        )
        self.jobs = JobCommands(self.context)
        self.nodes = NodeCommands(self.context, heartbeats, self.identities, self.authority)
        self.fleets = FleetCommands(self.context, self.nodes, heartbeats)
        deliverer = Deliverer(self.context, PushClient())
        self.push_nodes = PushNodes(
            self.context, self.nodes, heartbeats, deliverer, datacenter=settings.datacenter
        )
        self._worker = Worker(self.context, self._broker, self._applier)
        self._leader = Leader(
            self.context, self._broker, self._worker, heartbeats, self.nodes, deliverer, settings
        )
        self._worker.reblock = self._leader.blocked.block
        self.snapshots: Snapshotter | None = None
        self.started = asyncio.Event()
        self._replacing: asyncio.Future[None] | None = None

    @classmethod
    async def open(cls, settings: ServerSettings, clock: Clock, rng: Random) -> Server:
        """Restore a server from its data directory, or begin an empty one."""
        keystore = settings.data_dir / KEYSTORE if settings.data_dir is not None else None
        wrapping = await asyncio.to_thread(load_wrapping_key, keystore, os.environ)
        if settings.data_dir is None:
            return cls(settings, MemoryLog(), State(), clock, rng, wrapping=wrapping)
        log = await SqliteLog.open(settings.data_dir)
        try:
            snapshot_dir = settings.data_dir / "snapshots"
            state, kept = await restore(log, snapshot_dir)
        except BaseException:
            await log.close()
            raise
        server = cls(settings, log, state, clock, rng, wrapping=wrapping)
        server.snapshots = Snapshotter(
            server.context,
            log,
            snapshot_dir,
            interval_s=settings.snapshot_interval_s,
            threshold=settings.snapshot_threshold,
            trailing=settings.trailing_entries,
        )
        server.snapshots.start_from(kept)
        logger.info("state.restored", index=state.index, snapshot_index=kept.newest)
        return server

    @property
    def state(self) -> State:
        """The newest State."""
        return self.committer.state

    async def run(self) -> None:
        """Lead until cancelled."""
        self.committer.listen(self._leader.on_news)
        self.committer.listen(self.fleets.on_news)
        self._leader.take_over()
        async with asyncio.TaskGroup() as duties:
            duties.create_task(self._applier.run(), name="plan-applier")
            duties.create_task(self._worker.run(self.settings.enabled_schedulers), name="worker")
            duties.create_task(self._leader.run(), name="leader")
            if self.snapshots is not None:
                duties.create_task(self.snapshots.run(), name="snapshots")
            await self._configure_scheduling()
            await self.keyring.make_usable()
            self.started.set()

    async def save_archive(self, target: Path) -> str:
        """Write all State to an archive in the background; returns its SHA-256 in hex."""
        now = self.clock.now_ns()
        header = SnapshotHeader(index=self.state.index, created_at_ns=now, kind=STATE_KIND)
        meta = ArchiveMeta(index=self.state.index, created_at_ns=now, tables=row_counts(self.state))
        return await asyncio.to_thread(write_archive, target, header, dump(self.state), meta)

    async def restore_archive(self, source: Path) -> None:
        """Replace all State by an archive's.

        Indexes go on from here, so that nobody who waits for a newer one is left waiting. Raises
        ArchiveRefused, SnapshotWriteFailed and what the log raises; then nothing has changed. A caller
        that is cancelled once the archive is read only loses the answer: halfway is no place to stop.
        """
        restored = await asyncio.to_thread(read_archive, source)
        self._replacing = asyncio.ensure_future(self._replace_state(restored))
        await asyncio.shield(self._replacing)

    async def close(self) -> None:
        """Finish what was appended and release the data directory."""
        await self.log.close()

    async def _configure_scheduling(self) -> None:
        """Store the first configuration of a new cluster; one that has any keeps it."""
        if self.state.scheduler_configuration.modify_index == 0:
            configuration = self.settings.first_scheduler_configuration
            await self.committer.propose(
                SetSchedulerConfiguration(at=self.clock.now_ns(), configuration=configuration, check_index=0)
            )

    async def _replace_state(self, restored: State) -> None:
        async with self.committer.standstill():
            restored.index = max(self.log.last_index, restored.index) + 1
            saved = await self.snapshots.save(restored) if self.snapshots is not None else None
            try:
                await self.log.reset(restored.index + 1)
            except YurtError:
                if self.snapshots is not None and saved is not None:
                    await self.snapshots.forget(saved)
                raise
            self.committer.replace_state(restored)
        await self.keyring.make_usable()
        self._leader.start_over()
        logger.warning("state.replaced", index=self.state.index)
