"""What all runners of a node share."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from yurt.agent.alloc_dir import AllocDirs
from yurt.agent.consul.registrar import ConsulRegistrar
from yurt.agent.devices.nvidia import NAME as NVIDIA
from yurt.agent.devices.nvidia import NvidiaGpus, nvidia_options
from yurt.agent.drivers import Driver
from yurt.agent.identities import IdentitySource, NoIdentities
from yurt.agent.network.networks import Networks
from yurt.agent.services.registrar import NoRegistrar, Registrar
from yurt.agent.settings import ClientSettings
from yurt.agent.shared_cores import SharedCores
from yurt.agent.state_db import StateDb
from yurt.agent.task_api import OpenDoor
from yurt.agent.task_env import host_environment
from yurt.agent.templates.data_watches import DataWatches, NoTemplateData
from yurt.clock import Clock
from yurt.model.client_protocol import PreviousAlloc
from yurt.model.node import Node
from yurt.model.wire import AllocID

NETWORKS = "networks"


class NodeContext:
    """The node's settings, time, drivers, directories and memory; `node` is replaced when it changes."""

    def __init__(
        self,
        settings: ClientSettings,
        *,
        node: Node,
        drivers: Mapping[str, Driver],
        dirs: AllocDirs,
        db: StateDb,
        clock: Clock,
        rng: Random,
    ) -> None:
        self.settings = settings
        self.node = node
        self.drivers = drivers
        self.dirs = dirs
        self.db = db
        self.clock = clock
        self.rng = rng
        self.devices = NvidiaGpus(nvidia_options(settings.driver_configs.get(NVIDIA)))
        state_dir = Path(settings.state_dir) if settings.state_dir else Path(settings.alloc_dir).parent
        # The cores of tasks that reserve none; replaced by who has found the machine's control groups.
        self.shared_cores = SharedCores(None, ())
        self.networks = Networks(settings, state_dir / NETWORKS, drivers=drivers, clock=clock)
        # What templates know of the cluster; replaced by who is in touch with the servers.
        self.template_watches = DataWatches(NoTemplateData(), clock=clock, rng=rng)
        # Where services are announced; likewise.
        self.services: Registrar = NoRegistrar()
        # Where tokens of tasks come from; likewise.
        self.identities: IdentitySource = NoIdentities()
        # Where services of Consul are announced; None without a Consul agent.
        self.consul: ConsulRegistrar | None = None
        # Serves tasks the API on their own sockets; None where there is none to serve.
        self.task_api: OpenDoor | None = None
        # Set once a server has answered; tasks that were lost while the agent was away wait for it.
        self.server_reached = asyncio.Event()
        # Waits until an allocation is over; False for one that this node does not have.
        self.wait_until_over: Callable[[AllocID], Awaitable[bool]] = _has_no_allocs
        # Waits for the end of an allocation on another node that the given one replaces.
        self.wait_for_previous: Callable[[AllocID], Awaitable[PreviousAlloc]] = _knows_no_previous
        # What proves this node to others that serve HTTPS; None is the machine's own trust.
        self.peer_tls: Callable[[], ssl.SSLContext | None] = _no_tls
        self.host_env = host_environment(os.environ, frozenset(settings.env_denylist))

    async def sleep_until_done(self, seconds: float, *others: asyncio.Future[Any]) -> bool:
        """Sleep; True when the time has passed, False when one of `others` was done before."""
        pause = asyncio.ensure_future(self.clock.sleep(seconds))
        try:
            await asyncio.wait((pause, *others), return_when=asyncio.FIRST_COMPLETED)
            return pause.done() and not any(other.done() for other in others)
        finally:
            pause.cancel()


def _no_tls() -> ssl.SSLContext | None:
    return None


async def _knows_no_previous(_alloc_id: AllocID) -> PreviousAlloc:
    return PreviousAlloc(is_over=True)


async def _has_no_allocs(_alloc_id: AllocID) -> bool:
    return False
