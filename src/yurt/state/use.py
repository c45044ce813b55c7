"""What an allocation uses up on its node: amounts that add up, and things that only one can hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import msgspec

from yurt.model.allocated import AllocatedResources, AllocatedTaskResources
from yurt.model.task_parts import TaskLifecycle

# Rows of the columns of use and capacity.
CPU, MEMORY, DISK, ALLOCS, MBITS, CORES, PORTS = range(7)
DIMENSIONS = 7

# Uses worked out are kept for so many resources; then all are forgotten, and worked out again when asked.
USES_KEPT_MAX = 20_000

_PRESTART, _POSTSTOP = "prestart", "poststop"


class PortClaim(NamedTuple):
    """A port on one address of a node."""

    ip: str
    port: int


class SharedPortClaim(NamedTuple):
    """A port that its allocation is ready to share."""

    ip: str
    port: int
    shared: bool = True


class CoreClaim(NamedTuple):
    """A core that only one task runs on."""

    core: int


class DeviceClaim(NamedTuple):
    """One instance of a device, or one unit of a countable resource."""

    vendor: str
    type: str
    name: str
    id: str


Claim: TypeAlias = PortClaim | SharedPortClaim | CoreClaim | DeviceClaim
DeviceKey: TypeAlias = tuple[str, str, str]
"""Vendor, type and name of a group of alike devices."""


class Use(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one allocation uses up: `amounts` by dimension, exclusive `claims`, and device counts."""

    amounts: tuple[int, ...]
    claims: tuple[Claim, ...] = ()
    devices: tuple[tuple[DeviceKey, int], ...] = ()


_uses: dict[int, tuple[AllocatedResources, Use]] = {}


def use_of(resources: AllocatedResources) -> Use:
    """Work out what an allocation with `resources` uses up. Quick when asked again for the same object."""
    known = _uses.get(id(resources))
    if known is not None:
        return known[1]
    if len(_uses) >= USES_KEPT_MAX:
        _uses.clear()
    use = _work_out(resources)
    # Keeping the object keeps its id() its own.
    _uses[id(resources)] = (resources, use)
    return use


def _work_out(resources: AllocatedResources) -> Use:
    cpu, memory = fold(
        (task.cpu.cpu_shares, task.memory.memory_mb, resources.task_lifecycles.get(name), _has_cores(task))
        for name, task in resources.tasks.items()
    )
    cores = [CoreClaim(core) for task in resources.tasks.values() for core in task.cpu.reserved_cores or ()]
    ports = list(_ports(resources))
    devices = [
        (device, (device.vendor, device.type, device.name))
        for task in resources.tasks.values()
        for device in task.devices or ()
    ]
    mbits = sum(network.mbits for task in resources.tasks.values() for network in task.networks or ())
    counts: dict[DeviceKey, int] = {}
    for device, key in devices:
        counts[key] = counts.get(key, 0) + len(device.device_ids)
    return Use(
        amounts=(cpu, memory, resources.shared.disk_mb, 1, mbits, len(cores), len(ports)),
        claims=(
            *cores,
            *ports,
            *(DeviceClaim(*key, device_id) for device, key in devices for device_id in device.device_ids),
        ),
        devices=tuple(counts.items()),
    )


def fold(tasks: Iterator[tuple[int, int, TaskLifecycle | None, bool]]) -> tuple[int, int]:
    """Add up CPU and memory of tasks given as (MHz, MB, lifecycle, has cores of its own).

    Tasks that never run at the same time count once, with the larger need. Only tasks with cores of
    their own add their CPU on top: cores stay taken for the whole life of the allocation.
    """
    main_cpu = main_memory = before_cpu = before_memory = after_cpu = after_memory = 0
    cores_cpu = 0
    for task_cpu, memory, lifecycle, has_cores in tasks:
        hook = lifecycle.hook if lifecycle is not None else ""
        cpu = task_cpu
        if has_cores:
            cores_cpu += cpu
            cpu = 0
        if hook == _PRESTART:
            before_cpu += cpu
            before_memory += memory
        if hook == _POSTSTOP:
            after_cpu += cpu
            after_memory += memory
        elif hook != _PRESTART or (lifecycle is not None and lifecycle.sidecar):
            main_cpu += cpu
            main_memory += memory
    return max(main_cpu, before_cpu, after_cpu) + cores_cpu, max(main_memory, before_memory, after_memory)


def _has_cores(task: AllocatedTaskResources) -> bool:
    return bool(task.cpu.reserved_cores)


def _ports(resources: AllocatedResources) -> Iterator[PortClaim | SharedPortClaim]:
    shared = resources.shared
    if shared.ports:
        for port in shared.ports:
            if port.ignore_collision:
                yield SharedPortClaim(port.host_ip, port.value)
            else:
                yield PortClaim(port.host_ip, port.value)
        return
    networks = [*(shared.networks or ())]
    for task in resources.tasks.values():
        networks += (task.networks or ())[:1]
    for network in networks:
        for asked in (*(network.reserved_ports or ()), *(network.dynamic_ports or ())):
            if asked.ignore_collision:
                yield SharedPortClaim(network.ip, asked.value)
            else:
                yield PortClaim(network.ip, asked.value)
