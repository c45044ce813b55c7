"""What one instance of a group asks of a node."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import msgspec

from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedMemory,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.group import TaskGroup
from yurt.model.resources import NetworkResource, RequestedDevice, Resources
from yurt.model.task_parts import TaskLifecycle
from yurt.state.use import ALLOCS, CORES, CPU, DIMENSIONS, DISK, MBITS, MEMORY, fold

# What groups ask for is remembered for so many of them: jobs made from one template ask for the same.
ASKS_KEPT_MAX = 1024


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What one instance of a group asks of a node.

    `resources` is what it gets where nothing has to be chosen; `amounts`, by dimension, is what that
    uses up. CPU of tasks with cores of their own is in neither: it depends on the cores.
    """

    resources: AllocatedResources
    amounts: tuple[int, ...]
    network: NetworkResource | None = None
    task_networks: tuple[tuple[str, NetworkResource], ...] = ()
    cores: tuple[tuple[str, int], ...] = ()
    devices: tuple[tuple[str, RequestedDevice], ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to choose on the node, so that all instances get the same."""
        return not (self.network or self.task_networks or self.cores or self.devices)

    @property
    def cores_count(self) -> int:
        """How many cores of their own the tasks ask for."""
        return sum(count for _, count in self.cores)


def ask_of(group: TaskGroup, *, oversubscribe: bool) -> Ask:
    """Add up what a group asks for; memory maximums are recorded only where memory is oversubscribed.

    Groups that ask for the same, and for no networks, get the same object, as long as it is remembered.
    """
    wanted = tuple((task.name, task.resources, task.lifecycle) for task in group.tasks)
    network = group.networks[0] if group.networks else None
    if network is not None or any(wants.networks for _, wants, _ in wanted):
        return _add_up(wanted, group.ephemeral_disk.size_mb, network, oversubscribe)
    return _remembered(wanted, group.ephemeral_disk.size_mb, oversubscribe)


_Wanted: TypeAlias = tuple[tuple[str, Resources, TaskLifecycle | None], ...]
"""Name, resources and lifecycle of each task."""


@lru_cache(maxsize=ASKS_KEPT_MAX)
def _remembered(wanted: _Wanted, disk_mb: int, oversubscribe: bool) -> Ask:
    return _add_up(wanted, disk_mb, None, oversubscribe)


def _add_up(wanted: _Wanted, disk_mb: int, network: NetworkResource | None, oversubscribe: bool) -> Ask:
    tasks = {}
    for name, wants, _ in wanted:
        tasks[name] = AllocatedTaskResources(
            cpu=AllocatedCpu(cpu_shares=0 if wants.cores else wants.cpu),
            memory=AllocatedMemory(
                memory_mb=wants.memory_mb + wants.secrets_mb,
                memory_max_mb=_memory_max_mb(wants) if oversubscribe else 0,
            ),
        )
    resources = AllocatedResources(
        tasks=tasks,
        task_lifecycles={name: lifecycle for name, _, lifecycle in wanted},
        shared=AllocatedShared(disk_mb=disk_mb),
    )
    cpu, memory = fold(
        (given.cpu.cpu_shares, given.memory.memory_mb, resources.task_lifecycles[name], False)
        for name, given in tasks.items()
    )
    task_networks = tuple((name, wants.networks[0]) for name, wants, _ in wanted if wants.networks)
    cores = tuple((name, wants.cores) for name, wants, _ in wanted if wants.cores)
    amounts = [0] * DIMENSIONS
    amounts[CPU], amounts[MEMORY], amounts[DISK], amounts[ALLOCS] = cpu, memory, resources.shared.disk_mb, 1
    amounts[MBITS] = sum(network.mbits for _, network in task_networks)
    amounts[CORES] = sum(count for _, count in cores)
    return Ask(
        resources=resources,
        amounts=tuple(amounts),
        network=network,
        task_networks=task_networks,
        cores=cores,
        devices=tuple((name, request) for name, wants, _ in wanted for request in wants.devices or ()),
    )


def _memory_max_mb(wants: Resources) -> int:
    return wants.memory_max_mb + wants.secrets_mb if wants.memory_max_mb > 0 else wants.memory_max_mb
