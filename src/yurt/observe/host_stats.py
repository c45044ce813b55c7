"""How busy the machine is."""

from __future__ import annotations

import os
import time
from typing import Any

import psutil  # type: ignore[import-untyped]  # it has no types of its own

from yurt.model.wire import Wire, wire_names

# File systems that hold no data of their own.
_UNREAL = frozenset(("squashfs", "overlay", "tmpfs", "devtmpfs", "proc", "sysfs"))


class HostMemory(Wire, frozen=True, kw_only=True):
    """Memory, in bytes."""

    total: int
    available: int
    used: int
    free: int


class HostCpu(Wire, frozen=True, kw_only=True):
    """One core, in percent, and in MHz used."""

    cpu: str
    user: float
    system: float
    idle: float
    total_percent: float
    total_ticks: float


class HostDisk(Wire, frozen=True, kw_only=True):
    """One file system, in bytes."""

    device: str
    mountpoint: str
    size: int
    used: int
    available: int
    used_percent: float
    inodes_used_percent: float


class HostStats(Wire, frozen=True, kw_only=True, rename=wire_names(cpu_ticks_consumed="CPUTicksConsumed")):
    """How busy the machine is."""

    memory: HostMemory
    cpu: tuple[HostCpu, ...]
    disk_stats: tuple[HostDisk, ...]
    alloc_dir_stats: HostDisk
    # Of whatever devices the node has; the agent adds it.
    device_stats: tuple[Wire, ...] | None = None
    uptime: int
    timestamp: int
    cpu_ticks_consumed: float


def host_stats(directory: str, mhz: float) -> HostStats:
    """Look at the machine, whose cores have `mhz`; `directory` is where allocations live. Blocks.

    Cores are measured since the last look.
    """
    memory = psutil.virtual_memory()
    cores = tuple(
        _core(number, times, mhz) for number, times in enumerate(psutil.cpu_times_percent(percpu=True))
    )
    disks = [part for part in psutil.disk_partitions() if part.fstype not in _UNREAL]
    return HostStats(
        memory=HostMemory(total=memory.total, available=memory.available, used=memory.used, free=memory.free),
        cpu=cores,
        disk_stats=tuple(
            _disk(part.device, part.mountpoint) for part in disks if _is_readable(part.mountpoint)
        ),
        alloc_dir_stats=_disk("", "", at=directory),
        uptime=int(time.time() - psutil.boot_time()),
        timestamp=time.time_ns(),
        cpu_ticks_consumed=sum(core.total_ticks for core in cores),
    )


def _core(number: int, times: Any, mhz: float) -> HostCpu:  # noqa: ANN401 - psutil's own type
    busy = max(0.0, 100.0 - float(times.idle))
    return HostCpu(
        cpu=f"cpu{number}",
        user=float(times.user),
        system=float(times.system),
        idle=float(times.idle),
        total_percent=busy,
        total_ticks=mhz * busy / 100.0,
    )


def _disk(device: str, mountpoint: str, *, at: str = "") -> HostDisk:
    path = at or mountpoint
    usage, facts = psutil.disk_usage(path), os.statvfs(path)
    used_inodes = facts.f_files - facts.f_ffree
    return HostDisk(
        device=device,
        mountpoint=mountpoint,
        size=usage.total,
        used=usage.used,
        available=usage.free,
        used_percent=float(usage.percent),
        inodes_used_percent=100.0 * used_inodes / facts.f_files if facts.f_files else 0.0,
    )


def _is_readable(mountpoint: str) -> bool:
    return os.access(mountpoint, os.R_OK)
