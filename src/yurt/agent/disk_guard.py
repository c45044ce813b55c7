"""End the allocation that fills the node's disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from yurt.agent.alloc_runner.runner import AllocRunner
from yurt.agent.alloc_set import AllocSet
from yurt.agent.disk_watch import LOOK_INTERVAL_S, USED_PERCENT_MAX, DiskShare, offender, used_bytes
from yurt.agent.garbage import disk_usage
from yurt.agent.node_context import NodeContext
from yurt.observe.logger import get_logger

MIB = 1 << 20

logger = get_logger("agent")


async def guard_disk(node: NodeContext, allocs: AllocSet) -> None:
    """End the allocation that uses too much when the disk is nearly full; until cancelled."""
    while True:
        await node.clock.sleep(LOOK_INTERVAL_S)
        usage = await asyncio.to_thread(disk_usage, node.settings.alloc_dir)
        if usage.used_percent < USED_PERCENT_MAX:
            continue
        live = {runner.alloc.id: runner for runner in allocs.live}
        worst = offender(await asyncio.to_thread(_shares, node, tuple(live.values())))
        if worst is None:
            continue
        used_mb, limit_mb = worst.used // MIB, worst.limit // MIB
        logger.warning("alloc.fills_disk", alloc_id=worst.alloc_id, used_mb=used_mb, limit_mb=limit_mb)
        live[worst.alloc_id].end_for_disk(used_mb=used_mb, limit_mb=limit_mb)


def _shares(node: NodeContext, runners: Sequence[AllocRunner]) -> list[DiskShare]:
    return [
        DiskShare(
            alloc_id=runner.alloc.id,
            used=used_bytes(str(node.dirs.path(runner.alloc.id))),
            limit=runner.alloc.resources.shared.disk_mb * MIB,
        )
        for runner in runners
    ]
