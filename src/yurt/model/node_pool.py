"""Node pools: groups of nodes that jobs choose between."""

from __future__ import annotations

from yurt.model.times import HOUR_NS
from yurt.model.wire import Nanoseconds, Wire


class NodePoolScheduling(Wire, frozen=True, kw_only=True):
    """How jobs of a pool are placed, where it differs from the cluster's way."""

    scheduler_algorithm: str = ""
    memory_oversubscription_enabled: bool | None = None


class NodePool(Wire, frozen=True, kw_only=True):
    """A group of nodes."""

    name: str = ""
    description: str = ""
    meta: dict[str, str] | None = None
    scheduler_configuration: NodePoolScheduling | None = None
    node_identity_ttl: Nanoseconds = 24 * HOUR_NS
    hash: bytes | None = None
    create_index: int = 0
    modify_index: int = 0
