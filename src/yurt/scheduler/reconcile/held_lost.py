"""Lost allocations whose node may still be stopping them."""

from __future__ import annotations

from yurt.model.alloc import CLIENT_LOST, Allocation
from yurt.model.times import SECOND_NS, time_ns
from yurt.model.wire import Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import group_of

KILL_TIMEOUT_MIN_NS = 5 * SECOND_NS


def held_until(alloc: Allocation, now: Nanoseconds) -> Nanoseconds:
    """When a lost allocation is surely gone from its silent node; 0 if its job sets no time for that."""
    group = group_of(alloc)
    strategy = group.disconnect if group is not None else None
    if group is None or strategy is None or not strategy.stop_on_client_after:
        return 0
    lost_since = next(
        (time_ns(change.time) for change in alloc.alloc_states if change.value == CLIENT_LOST), now
    )
    slowest = max((task.kill_timeout for task in group.tasks), default=0)
    return lost_since + strategy.stop_on_client_after + max(KILL_TIMEOUT_MIN_NS, slowest)
