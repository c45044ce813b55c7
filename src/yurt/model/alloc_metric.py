"""Why a placement went where it went, or nowhere."""

from __future__ import annotations

from yurt.model.resources import Resources
from yurt.model.wire import Nanoseconds, NodeID, Wire

SCORES_KEPT_MAX = 5


class NodeScore(Wire, frozen=True, kw_only=True):
    """The score parts of one node."""

    node_id: NodeID
    scores: dict[str, float] | None = None
    norm_score: float = 0.0


class AllocMetric(Wire, frozen=True, kw_only=True):
    """What the scheduler saw while it placed one allocation."""

    nodes_evaluated: int = 0
    nodes_filtered: int = 0
    nodes_in_pool: int = 0
    node_pool: str = ""
    nodes_available: dict[str, int] | None = None
    class_filtered: dict[str, int] | None = None
    constraint_filtered: dict[str, int] | None = None
    nodes_exhausted: int = 0
    class_exhausted: dict[str, int] | None = None
    dimension_exhausted: dict[str, int] | None = None
    quota_exhausted: tuple[str, ...] | None = None
    resources_exhausted: dict[str, Resources] | None = None
    scores: dict[str, float] | None = None
    score_meta_data: tuple[NodeScore, ...] | None = None
    allocation_time: Nanoseconds = 0
    coalesced_failures: int = 0
