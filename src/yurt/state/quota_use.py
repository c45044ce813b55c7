"""What allocations count for in quotas, and what those of each quota use together."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.namespace import Namespace
from yurt.state.use import DeviceKey

# Rows of the amounts.
Q_CPU, Q_CORES, Q_MEMORY, Q_MEMORY_MAX, Q_ALLOCS = range(5)
Q_NAMES = ("cpu", "cores", "memory", "memory max", "allocations")
Q_DIMENSIONS = 5


class QuotaAmounts(msgspec.Struct, frozen=True):
    """What one allocation counts for, or several: amounts by dimension, and devices by kind."""

    amounts: tuple[int, ...] = (0,) * Q_DIMENSIONS
    devices: tuple[tuple[DeviceKey, int], ...] = ()

    def plus(self, other: QuotaAmounts, times: int = 1) -> QuotaAmounts:
        """This and so many times the other; less than none of a device is none."""
        amounts = tuple(one + times * more for one, more in zip(self.amounts, other.amounts, strict=True))
        if not (self.devices or other.devices):
            return QuotaAmounts(amounts)
        devices = dict(self.devices)
        for key, count in other.devices:
            devices[key] = devices.get(key, 0) + times * count
        return QuotaAmounts(amounts, tuple((key, count) for key, count in sorted(devices.items()) if count))

    def devices_named(self, name: str) -> int:
        """How many devices a limit counts: of a type, of vendor/type, or of vendor/type/name."""
        return sum(count for key, count in self.devices if is_meant(name, key))


NOTHING = QuotaAmounts()


def is_meant(limit: str, key: DeviceKey) -> bool:
    """Whether devices of a kind count for a limit. What an ask leaves open may be meant."""
    vendor, kind, name = device_key(limit)
    return kind == key[1] and (not key[0] or vendor in ("", key[0])) and (not key[2] or name in ("", key[2]))


def device_key(name: str) -> DeviceKey:
    """Vendor, type and name of a device that is called `type`, `vendor/type` or `vendor/type/name`."""
    parts = name.split("/")
    if len(parts) == 1:
        return "", parts[0], ""
    return parts[0], parts[1], parts[2] if len(parts) > 2 else ""


def quota_amounts(resources: AllocatedResources) -> QuotaAmounts:
    """What an allocation with `resources` counts for: the sum of its tasks, whenever each runs.

    CPU is counted for tasks without cores of their own: for the others, the cores are.
    """
    cpu = cores = memory = memory_max = 0
    devices: dict[DeviceKey, int] = {}
    for task in resources.tasks.values():
        if task.cpu.reserved_cores:
            cores += len(task.cpu.reserved_cores)
        else:
            cpu += task.cpu.cpu_shares
        memory += task.memory.memory_mb
        memory_max += max(task.memory.memory_max_mb, task.memory.memory_mb)
        for device in task.devices or ():
            key = (device.vendor, device.type, device.name)
            devices[key] = devices.get(key, 0) + len(device.device_ids)
    return QuotaAmounts((cpu, cores, memory, memory_max, 1), tuple(sorted(devices.items())))


class QuotaUses:
    """What live allocations of namespaces with a quota use, kept current by the table of allocations.

    An allocation counts until the servers stop it, or it ends. Namespaces without a quota cost one look
    into a dict.
    """

    def __init__(self) -> None:
        self._quota_of: dict[str, str] = {}
        self._used: dict[str, QuotaAmounts] = {}
        self._freed: dict[str, None] = {}

    @property
    def is_needed(self) -> bool:
        """Whether any namespace has a quota."""
        return bool(self._quota_of)

    def quota_of(self, namespace: str) -> str:
        """The quota of a namespace; empty for none."""
        return self._quota_of.get(namespace, "")

    def namespaces_of(self, quota: str) -> list[str]:
        """The namespaces that share a quota."""
        return [name for name, own in self._quota_of.items() if own == quota]

    def used(self, quota: str) -> QuotaAmounts:
        """What the namespaces of a quota use together."""
        return self._used.get(quota, NOTHING)

    def count(self, namespace: str, resources: AllocatedResources, times: int) -> None:
        """Count `times` more allocations; fewer, if that is negative."""
        quota = self._quota_of.get(namespace)
        if quota is None:
            return
        self._used[quota] = self.used(quota).plus(quota_amounts(resources), times)
        if times < 0:
            self._freed[quota] = None

    def note_changed(self, quota: str) -> None:
        """Somebody who waits for this quota may have a chance now."""
        self._freed[quota] = None

    def take_freed(self) -> list[str]:
        """The quotas of which something was freed since the last call."""
        freed, self._freed = list(self._freed), {}
        return freed

    def recount(self, namespaces: Iterable[Namespace], allocs: Iterable[Allocation]) -> None:
        """Count everything anew, since namespaces have other quotas."""
        quota_of = {one.name: one.quota for one in namespaces if one.quota}
        if quota_of == self._quota_of:
            return
        for name in {*quota_of, *self._quota_of}:
            if quota_of.get(name) != self._quota_of.get(name):
                self._freed |= dict.fromkeys(filter(None, (quota_of.get(name), self._quota_of.get(name))))
        self._quota_of = quota_of
        self._used = {}
        if quota_of:
            for alloc in allocs:
                if alloc.namespace in quota_of and not alloc.is_terminal:
                    self.count(alloc.namespace, alloc.resources, 1)
