"""Ending locks of variables that their holders no longer renew."""

from __future__ import annotations

from yurt.server.context import ServerContext
from yurt.server.watchers.pacing import Pacer
from yurt.state.secret_entries import UnlockVariable

RESCAN_INTERVAL_S = 5.0
BATCH_S = 0.05


async def watch_variable_locks(context: ServerContext) -> None:
    """End locks whose time is over, on the leader, until cancelled."""
    clock = context.clock
    async with Pacer(context, ["variables"], batch_s=BATCH_S) as pacer:
        while True:
            over = context.variable_locks.expired(context.state, now=clock.monotonic())
            await pacer.propose_each(
                [
                    UnlockVariable(at=clock.now_ns(), namespace=key.namespace, path=key.path, lock_id=lock_id)
                    for key, lock_id in over
                ]
            )
            end = context.variable_locks.next_end
            left_s = max(end - clock.monotonic(), BATCH_S) if end is not None else RESCAN_INTERVAL_S
            await pacer.wait(min(left_s, RESCAN_INTERVAL_S))
