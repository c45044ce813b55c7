"""Which ended allocations have to go to make room."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from yurt.agent.settings import GcSettings
from yurt.model.wire import AllocID, Nanoseconds


class DiskUsage(msgspec.Struct, frozen=True):
    """How full a file system is."""

    used_percent: float
    inodes_used_percent: float


class EndedAlloc(msgspec.Struct, frozen=True):
    """An allocation that is over, and since when."""

    id: AllocID
    finished: Nanoseconds


def is_over_limit(settings: GcSettings, usage: DiskUsage, *, allocs: int) -> bool:
    """Whether something should go, if there is something that can."""
    return (
        usage.used_percent > settings.disk_usage_percent_max
        or usage.inodes_used_percent > settings.inode_usage_percent_max
        or allocs > settings.allocs_max
    )


def oldest(ended: Sequence[EndedAlloc]) -> AllocID:
    """The allocation to destroy next: the one that ended first. There must be one."""
    return min(ended, key=lambda alloc: (alloc.finished, alloc.id)).id


def disk_usage(path: str) -> DiskUsage:
    """Ask the file system of `path`."""
    info = os.statvfs(path)
    used = info.f_blocks - info.f_bfree
    total = used + info.f_bavail  # what is kept for root counts as used up, as `df` has it
    inodes_used = info.f_files - info.f_ffree
    return DiskUsage(
        used_percent=100 * used / total if total else 0.0,
        inodes_used_percent=100 * inodes_used / info.f_files if info.f_files else 0.0,
    )
