"""Nodes that plans keep failing on, counted so that they can be set aside."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable

import msgspec

from yurt.model.wire import NodeID

# Nodes that are remembered; the one that was refused longest ago is forgotten first.
NODES_MAX = 50
# Nodes that may be set aside at once, and how long it takes until one more may be: whatever makes plans
# fail everywhere, such as a fault of the scheduler, must not take the whole cluster out of use.
SET_ASIDE_BURST = 10
SET_ASIDE_REFILL_S = 360.0


class RejectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How often plans may fail on a node, and within which time."""

    threshold: int = 100
    window_s: float = 300.0


class PlanRejections:
    """Remembers when plans were refused because of which node."""

    def __init__(self, limits: RejectionLimits) -> None:
        self._limits = limits
        self._times: OrderedDict[NodeID, deque[float]] = OrderedDict()
        self._left = float(SET_ASIDE_BURST)
        self._refilled_at: float | None = None

    def add(self, nodes: Iterable[NodeID], *, now: float) -> list[NodeID]:
        """Count a refusal for each of `nodes`; give those that should take no more work."""
        return [node for node in nodes if self._count(node, now) and self._may_set_aside(now)]

    def _count(self, node: NodeID, now: float) -> bool:
        """Whether plans have now failed too often on a node."""
        times = self._times.setdefault(node, deque(maxlen=max(1, self._limits.threshold)))
        self._times.move_to_end(node)
        if len(self._times) > NODES_MAX:
            self._times.popitem(last=False)
        times.append(now)
        while times[0] < now - self._limits.window_s:
            times.popleft()
        return len(times) >= self._limits.threshold

    def _may_set_aside(self, now: float) -> bool:
        since = now - self._refilled_at if self._refilled_at is not None else 0.0
        self._left = min(float(SET_ASIDE_BURST), self._left + since / SET_ASIDE_REFILL_S)
        self._refilled_at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
