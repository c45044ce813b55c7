"""Heartbeats: which nodes are silent."""

from __future__ import annotations

from yurt.model.wire import NodeID

# Yurt declares work lost sooner than Nomad does; a heartbeat costs it microseconds and no disk write.
MIN_HEARTBEAT_TTL_S = 5.0
HEARTBEAT_GRACE_S = 4.0
MAX_HEARTBEATS_PER_SECOND = 2000.0


class HeartbeatTimers:
    """When each node must have been heard from. Knows no clock: callers pass `now`."""

    def __init__(
        self,
        *,
        min_ttl_s: float = MIN_HEARTBEAT_TTL_S,
        grace_s: float = HEARTBEAT_GRACE_S,
        max_per_second: float = MAX_HEARTBEATS_PER_SECOND,
    ) -> None:
        self._min_ttl_s = min_ttl_s
        self._grace_s = grace_s
        self._max_per_second = max_per_second
        self._deadlines: dict[NodeID, float] = {}
        self._heard: dict[NodeID, float] = {}

    def silent_s(self, node_id: NodeID, *, now: float) -> float | None:
        """For how long a node has been silent; None if it was not heard from yet."""
        heard = self._heard.get(node_id)
        return now - heard if heard is not None else None

    def beat(self, node_id: NodeID, *, now: float) -> float:
        """Note a sign of life; returns the seconds until the next one is due."""
        ttl = max(self._min_ttl_s, len(self._deadlines) / self._max_per_second)
        self._deadlines[node_id] = now + ttl + self._grace_s
        self._heard[node_id] = now
        return ttl

    def expect(self, node_id: NodeID, *, now: float, within_s: float) -> None:
        """Give a node whose last beat is not known some time to be heard."""
        self._deadlines.setdefault(node_id, now + within_s)

    def allow(self, node_id: NodeID, *, now: float, silence_s: float) -> None:
        """Note a sign of life of a node that may be silent for a time of its own."""
        self._deadlines[node_id] = now + silence_s
        self._heard[node_id] = now

    def forget(self, node_id: NodeID) -> None:
        """Stop expecting a node."""
        self._deadlines.pop(node_id, None)
        self._heard.pop(node_id, None)

    def take_silent(self, *, now: float) -> list[NodeID]:
        """The nodes whose time has run out; they are forgotten until they beat again."""
        silent = [node_id for node_id, deadline in self._deadlines.items() if deadline <= now]
        for node_id in silent:
            del self._deadlines[node_id]
        return silent
