"""Which allocation to end when the node's disk fills up.

Nomad never ends an allocation for the disk it uses, and jobs that use more than they asked for are common. So
their limits count only when the disk is nearly full, and then only for whoever is furthest beyond its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from yurt.model.wire import AllocID

LOOK_INTERVAL_S = 5.0
USED_PERCENT_MAX = 95.0
# Of more than so many files in one allocation the others are not counted, to bound the time it takes.
ENTRIES_MAX = 200_000
_BLOCK_BYTES = 512


class DiskShare(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the disk an allocation uses, and how much it asked for, in bytes."""

    alloc_id: AllocID
    used: int
    limit: int


def offender(shares: Iterable[DiskShare]) -> DiskShare | None:
    """The allocation to end: the one that is furthest beyond its limit; None when none is beyond."""
    beyond = [share for share in shares if share.used > share.limit]
    return max(beyond, key=lambda share: (share.used - share.limit, share.alloc_id), default=None)


def used_bytes(directory: str) -> int:
    """What the files below a directory take up on its file system; mounts below it are left out. Blocks."""
    try:
        device = os.stat(directory).st_dev
    except OSError:
        return 0
    total = entries = 0
    left = [directory]
    while left:
        try:
            with os.scandir(left.pop()) as found:
                for entry in found:
                    entries += 1
                    if entries > ENTRIES_MAX:
                        return total
                    info = entry.stat(follow_symlinks=False)
                    if info.st_dev != device:
                        continue
                    total += info.st_blocks * _BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
        except OSError:  # it was removed meanwhile
            continue
    return total
