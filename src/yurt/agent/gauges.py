"""What a node and its allocations use, as metrics with Nomad's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from yurt.agent.client_status import TERMINAL, ClientStatus
from yurt.model.alloc import CLIENT_PENDING, CLIENT_RUNNING
from yurt.model.client_protocol import ClientAlloc
from yurt.model.node import Node
from yurt.model.resource_usage import AllocResourceUsage
from yurt.observe.host_stats import HostStats
from yurt.observe.metrics import Gauge

_MIB = 1 << 20


class _Runner(Protocol):
    @property
    def alloc(self) -> ClientAlloc: ...

    @property
    def status(self) -> ClientStatus: ...


def node_gauges(node: Node, stats: HostStats, runners: Iterable[_Runner]) -> list[Gauge]:
    """The machine as a whole, and what of it is given to allocations."""
    labels = {
        "node_id": str(node.id),
        "datacenter": node.datacenter,
        "node_class": node.node_class or "none",
        "node_pool": node.node_pool,
        "host": node.name,
    }
    found = list(_host_gauges(stats, labels))
    by_status: Counter[str] = Counter()
    cpu = memory_mb = disk_mb = 0
    for runner in runners:
        status = runner.status.status
        by_status["terminal" if status in TERMINAL else status] += 1
        if status not in TERMINAL:
            for task in runner.alloc.resources.tasks.values():
                cpu += task.cpu.cpu_shares
                memory_mb += task.memory.memory_mb
            disk_mb += runner.alloc.resources.shared.disk_mb
    for status in (CLIENT_PENDING, CLIENT_RUNNING, "terminal"):
        found.append(_gauge(f"allocations.{status}", by_status[status], labels))
    have = node.node_resources
    for name, given, all_there_is in (
        ("cpu", cpu, have.cpu.cpu_shares),
        ("memory", memory_mb, have.memory.memory_mb),
        ("disk", disk_mb, have.disk.disk_mb),
    ):
        found.append(_gauge(f"allocated.{name}", given, labels))
        found.append(_gauge(f"unallocated.{name}", all_there_is - given, labels))
    return found


def _host_gauges(stats: HostStats, labels: dict[str, str]) -> Iterator[Gauge]:
    memory = stats.memory
    for name, value in (
        ("total", memory.total),
        ("available", memory.available),
        ("used", memory.used),
        ("free", memory.free),
    ):
        yield _gauge(f"host.memory.{name}", value, labels)
    for core in stats.cpu:
        of_core = {**labels, "cpu": core.cpu}
        yield _gauge("host.cpu.total_percent", core.total_percent, of_core)
        yield _gauge("host.cpu.total_ticks", core.total_ticks, of_core)
        yield _gauge("host.cpu.user", core.user, of_core)
        yield _gauge("host.cpu.system", core.system, of_core)
        yield _gauge("host.cpu.idle", core.idle, of_core)
    for disk in stats.disk_stats:
        of_disk = {**labels, "disk": disk.device}
        yield _gauge("host.disk.size", disk.size, of_disk)
        yield _gauge("host.disk.used", disk.used, of_disk)
        yield _gauge("host.disk.available", disk.available, of_disk)
        yield _gauge("host.disk.used_percent", disk.used_percent, of_disk)
        yield _gauge("host.disk.inodes_percent", disk.inodes_used_percent, of_disk)
    yield _gauge("uptime", stats.uptime, labels)


def alloc_gauges(node: Node, alloc: ClientAlloc, usage: AllocResourceUsage) -> Iterator[Gauge]:
    """What each task of an allocation uses, and what it was given."""
    for name, task in usage.tasks.items():
        labels = {
            "job": alloc.job.name,
            "task_group": alloc.task_group,
            "alloc_id": str(alloc.id),
            "task": name,
            "namespace": alloc.namespace,
            "host": node.name,
        }
        memory, cpu = task.resource_usage.memory_stats, task.resource_usage.cpu_stats
        values = {
            "memory.rss": memory.rss,
            "memory.cache": memory.cache,
            "memory.swap": memory.swap,
            "memory.mapped_file": memory.mapped_file,
            "memory.usage": memory.usage,
            "memory.max_usage": memory.max_usage,
            "memory.kernel_usage": memory.kernel_usage,
            "memory.kernel_max_usage": memory.kernel_max_usage,
            "cpu.total_percent": cpu.percent,
            "cpu.system": cpu.system_mode,
            "cpu.user": cpu.user_mode,
            "cpu.total_ticks": cpu.total_ticks,
            "cpu.throttled_time": cpu.throttled_time,
            "cpu.throttled_periods": cpu.throttled_periods,
        }
        given = alloc.resources.tasks.get(name)
        if given is not None:
            values["memory.allocated"] = given.memory.memory_mb * _MIB
            values["cpu.allocated"] = given.cpu.cpu_shares
        for metric, value in values.items():
            yield _gauge(f"allocs.{metric}", value, labels)


def _gauge(name: str, value: float, labels: dict[str, str]) -> Gauge:
    return Gauge(name=f"nomad.client.{name}", labels=labels, value=float(value))
