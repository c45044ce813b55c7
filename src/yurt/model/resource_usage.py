"""What tasks and allocations use, as measured on their node."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from yurt.model.wire import Wire, wire_names


class MemoryStats(Wire, frozen=True, kw_only=True, rename=wire_names(rss="RSS")):
    """Memory that something uses, in bytes; `measured` names what was found out."""

    rss: int = 0
    cache: int = 0
    swap: int = 0
    mapped_file: int = 0
    usage: int = 0
    max_usage: int = 0
    kernel_usage: int = 0
    kernel_max_usage: int = 0
    measured: tuple[str, ...] | None = None


class CpuStats(Wire, frozen=True, kw_only=True):
    """Compute that something uses: percents of one core, ticks in MHz, times in nanoseconds."""

    system_mode: float = 0.0
    user_mode: float = 0.0
    total_ticks: float = 0.0
    throttled_periods: int = 0
    throttled_time: int = 0
    percent: float = 0.0
    measured: tuple[str, ...] | None = None


class ResourceUsage(Wire, frozen=True, kw_only=True, rename=wire_names(cpu_stats="CpuStats")):
    """What something uses."""

    memory_stats: MemoryStats = MemoryStats()
    cpu_stats: CpuStats = CpuStats()
    device_stats: tuple[dict[str, str], ...] | None = None


class TaskResourceUsage(Wire, frozen=True, kw_only=True):
    """What a task uses, and each of its processes where they are known."""

    resource_usage: ResourceUsage
    timestamp: int
    pids: dict[str, ResourceUsage] | None = None


class AllocResourceUsage(Wire, frozen=True, kw_only=True):
    """What an allocation and its tasks use; nothing measured is zeros and no tasks."""

    resource_usage: ResourceUsage = ResourceUsage(device_stats=())
    tasks: dict[str, TaskResourceUsage] = {}
    timestamp: int = 0


def with_ticks(usage: ResourceUsage, mhz: float) -> ResourceUsage:
    """The same on a node whose cores have `mhz`."""
    cpu = usage.cpu_stats
    return msgspec.structs.replace(
        usage, cpu_stats=msgspec.structs.replace(cpu, total_ticks=cpu.percent / 100.0 * mhz)
    )


def alloc_usage(tasks: dict[str, TaskResourceUsage]) -> AllocResourceUsage:
    """What the tasks of an allocation use together."""
    total = summed(usage.resource_usage for usage in tasks.values())
    return AllocResourceUsage(
        resource_usage=ResourceUsage(
            memory_stats=total.memory_stats, cpu_stats=total.cpu_stats, device_stats=()
        ),
        tasks=tasks,
        timestamp=max((usage.timestamp for usage in tasks.values()), default=0),
    )


def summed(usages: Iterable[ResourceUsage]) -> ResourceUsage:
    """What several use together."""
    found = list(usages)
    return ResourceUsage(
        memory_stats=_summed_memory([usage.memory_stats for usage in found]),
        cpu_stats=_summed_cpu([usage.cpu_stats for usage in found]),
    )


def _summed_memory(parts: list[MemoryStats]) -> MemoryStats:
    return MemoryStats(
        rss=sum(part.rss for part in parts),
        cache=sum(part.cache for part in parts),
        swap=sum(part.swap for part in parts),
        mapped_file=sum(part.mapped_file for part in parts),
        usage=sum(part.usage for part in parts),
        max_usage=sum(part.max_usage for part in parts),
        kernel_usage=sum(part.kernel_usage for part in parts),
        kernel_max_usage=sum(part.kernel_max_usage for part in parts),
        measured=_all_measured(part.measured for part in parts),
    )


def _summed_cpu(parts: list[CpuStats]) -> CpuStats:
    return CpuStats(
        system_mode=sum(part.system_mode for part in parts),
        user_mode=sum(part.user_mode for part in parts),
        total_ticks=sum(part.total_ticks for part in parts),
        throttled_periods=sum(part.throttled_periods for part in parts),
        throttled_time=sum(part.throttled_time for part in parts),
        percent=sum(part.percent for part in parts),
        measured=_all_measured(part.measured for part in parts),
    )


def _all_measured(parts: Iterable[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    names = dict.fromkeys(name for part in parts for name in part or ())
    return tuple(names) or None
