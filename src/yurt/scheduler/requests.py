"""What reconciling asks of placing, and what placing answers."""

from __future__ import annotations

import msgspec

from yurt.model.alloc import Allocation
from yurt.model.alloc_metric import AllocMetric
from yurt.model.allocated import AllocatedResources
from yurt.model.wire import AllocID, NodeID


class PlaceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One instance of a group that wants a node."""

    name_index: int
    previous: Allocation | None = None
    # An allocation that is stopped if, and only if, this request gets a node: its room is free for it.
    replaces: Allocation | None = None
    # Nodes on which the work failed before: allowed, with a penalty.
    penalty_nodes: frozenset[NodeID] = frozenset()
    # The node whose sticky disk it should find again, tried first.
    preferred_node: NodeID | None = None
    is_canary: bool = False
    # System jobs: the only node it may go to.
    required_node: NodeID | None = None


class Placed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request that got a node. `metrics` is an encoded AllocMetric, shared where it says the same."""

    request: PlaceRequest
    node_id: NodeID
    resources: AllocatedResources
    metrics: bytes
    preempted: tuple[AllocID, ...] = ()


class PlacedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What became of all requests of one group.

    `failure` says why the first request that found no node found none; its `coalesced_failures`
    counts the others. Requests that are not among `placed` found none.

    For system jobs a request fails for its own node: `filtered` were turned away by rules, with the
    sum of the reasons in `filtered_metrics`; `exhausted` found no room, and `failure` is about these.
    """

    placed: tuple[Placed, ...]
    failure: AllocMetric | None = None
    class_eligibility: dict[str, bool] = {}
    escaped: bool = False
    # Things that no node has, such as CSI volumes that do not exist.
    missing: tuple[str, ...] = ()
    filtered: tuple[PlaceRequest, ...] = ()
    filtered_metrics: AllocMetric | None = None
    exhausted: tuple[PlaceRequest, ...] = ()
    # The quota that is used up, where nothing else keeps the requests that failed from being placed.
    quota: str = ""
