"""What control groups tell of the tasks in them, in both versions."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from yurt.model.resource_usage import CpuStats, MemoryStats

CGROUPS = "/sys/fs/cgroup"
CPU_OF_GROUP = ("System Mode", "User Mode", "Throttled Periods", "Throttled Time", "Percent")
MEMORY_OF_GROUP = {
    1: ("RSS", "Cache", "Swap", "Usage", "Max Usage", "Kernel Usage", "Kernel Max Usage"),
    2: ("RSS", "Cache", "Swap", "Usage"),
}


class Groups(msgspec.Struct, frozen=True):
    """The folders of a process's control groups; of version 2 there is one for everything."""

    version: int
    memory: str
    cpu: str


def groups_of(pid: int) -> Groups | None:
    """The groups of a process; None when it is gone, or its groups are not measured."""
    try:
        return named_groups(Path(f"/proc/{pid}/cgroup").read_text(), CGROUPS)
    except OSError:
        return None


def named_groups(text: str, mount: str) -> Groups | None:
    """The groups that a process's `cgroup` file names, below `mount`; None when they are not measured."""
    paths = {}
    for line in text.splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            paths[name] = path
    if "memory" in paths and "cpu" in paths:
        return Groups(1, f"{mount}/memory{paths['memory']}", f"{mount}/cpu{paths['cpu']}")
    path = f"{mount}{paths.get('', '')}"
    return Groups(2, path, path) if os.path.exists(f"{path}/memory.current") else None


def members(groups: Groups) -> list[int]:
    """The processes of a group."""
    try:
        return [int(pid) for pid in Path(f"{groups.memory}/cgroup.procs").read_text().split()]
    except OSError:
        return []


def group_memory(groups: Groups) -> MemoryStats:
    """What a group holds of memory, as far as its version tells."""
    facts = _facts(f"{groups.memory}/memory.stat")
    if groups.version == 1:
        return MemoryStats(
            rss=facts.get("rss", 0),
            cache=facts.get("cache", 0),
            swap=facts.get("swap", 0),
            mapped_file=facts.get("mapped_file", 0),
            usage=_number(f"{groups.memory}/memory.usage_in_bytes"),
            max_usage=_number(f"{groups.memory}/memory.max_usage_in_bytes"),
            kernel_usage=_number(f"{groups.memory}/memory.kmem.usage_in_bytes"),
            kernel_max_usage=_number(f"{groups.memory}/memory.kmem.max_usage_in_bytes"),
            measured=MEMORY_OF_GROUP[1],
        )
    return MemoryStats(
        rss=facts.get("anon", 0),
        cache=facts.get("file", 0),
        swap=_number(f"{groups.memory}/memory.swap.current"),
        mapped_file=facts.get("file_mapped", 0),
        usage=_number(f"{groups.memory}/memory.current"),
        measured=MEMORY_OF_GROUP[2],
    )


def with_throttling(cpu: CpuStats, groups: Groups) -> CpuStats:
    """Compute with how often and how long the group was held back."""
    facts = _facts(f"{groups.cpu}/cpu.stat")
    throttled_ns = facts.get("throttled_time", 0) or facts.get("throttled_usec", 0) * 1000
    return msgspec.structs.replace(
        cpu,
        throttled_periods=facts.get("nr_throttled", 0),
        throttled_time=throttled_ns,
        measured=CPU_OF_GROUP,
    )


def _facts(path: str) -> dict[str, int]:
    try:
        pairs = (line.split() for line in Path(path).read_text().splitlines())
        return {name: int(value) for name, value in pairs}
    except (OSError, ValueError):
        return {}


def _number(path: str) -> int:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return 0
