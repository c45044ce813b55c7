"""Look at the machine, and at what an earlier agent left on it, before a node agent runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import msgspec

from yurt.agent.alloc_dir import AllocDirs
from yurt.agent.driver_watch import fingerprint_drivers
from yurt.agent.drivers import Driver, DriverContext, load_drivers
from yurt.agent.drivers.cgroups import find_cgroups
from yurt.agent.fingerprint.facts import Probe
from yurt.agent.fingerprint.registry import fingerprint
from yurt.agent.launcher import LauncherClient
from yurt.agent.node_changes import with_devices
from yurt.agent.node_context import NodeContext
from yurt.agent.node_identity import NodeIdentity, load_identity
from yurt.agent.settings import ClientSettings
from yurt.agent.shared_cores import SharedCores
from yurt.agent.state_db import StateDb
from yurt.clock import Clock


class OpenedNode(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent starts with; `launcher` is None where the drivers need none."""

    node: NodeContext
    identity: NodeIdentity
    launcher: LauncherClient | None


async def open_node(
    settings: ClientSettings,
    clock: Clock,
    rng: Random,
    *,
    drivers: Mapping[str, Driver] | None,
    new_id: Callable[[], str],
) -> OpenedNode:
    """Take the node's directories and memory, and its fingerprint. `drivers` replaces the installed ones.

    Raises a YurtError that says what keeps the agent from starting.
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
    found = await asyncio.to_thread(
        fingerprint,
        Probe(settings=settings),
        node_id=identity.node_id,
        secret_id=identity.secret_id,
        drivers=infos,
    )
    node = NodeContext(
        settings,
        node=found,
        drivers=drivers,
        dirs=dirs,
        db=StateDb(state_dir),
        clock=clock,
        rng=rng,
    )
    if launcher is not None:
        cgroups = await asyncio.to_thread(find_cgroups, parent=settings.cgroup_parent)
        node.shared_cores = SharedCores(cgroups, found.node_resources.cpu.reservable_cpu_cores or ())
    node.node = with_devices(found, await asyncio.to_thread(node.devices.find))
    return OpenedNode(node=node, identity=identity, launcher=launcher)
