"""Applying changes of nodes."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from yurt.model.computed_class import computed_class
from yurt.model.node import (
    NODE_DISCONNECTED,
    NODE_DOWN,
    NODE_ELIGIBLE,
    NODE_EVENTS_MAX,
    NODE_INELIGIBLE,
    NODE_READY,
    SUBSYSTEM_CLUSTER,
    SUBSYSTEM_DRAIN,
    DrainMetadata,
    Node,
    NodeEvent,
)
from yurt.model.node_pool import NodePool
from yurt.model.times import SECOND_NS, time_text
from yurt.model.wire import Nanoseconds
from yurt.state.apply_evals import upsert_evals
from yurt.state.apply_volumes import note_offered_volumes
from yurt.state.entries import (
    DeregisterNodes,
    RegisterNode,
    SetNodeDrain,
    SetNodeEligibility,
    SetNodeStatus,
)
from yurt.state.state import State

_SILENT = (NODE_DOWN, NODE_DISCONNECTED)


class NodeOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The node as it is stored now; None if there is no such node."""

    node: Node | None


def register_node(state: State, index: int, entry: RegisterNode) -> NodeOutcome:
    """Store a node; what operators set on it and its history outlive a new registration."""
    old = state.nodes.get(entry.node.id)
    node = replace(
        entry.node,
        computed_class=entry.node.computed_class or computed_class(entry.node),
        modify_index=index,
        status_updated_at=entry.at // SECOND_NS,
    )
    if old is None:
        node = _with_event(replace(node, create_index=index), "Node registered", entry.at, 0)
    else:
        node = replace(
            node,
            create_index=old.create_index,
            drain_strategy=old.drain_strategy,
            scheduling_eligibility=old.scheduling_eligibility,
            events=old.events,
            last_drain=old.last_drain,
            last_missed_heartbeat_index=_last_missed(old, node.status, index),
            last_alloc_update_index=old.last_alloc_update_index,
            identity_signing_key_id=old.identity_signing_key_id,
        )
        if old.status != node.status:
            node = _with_event(node, "Node re-registered", entry.at, index)
    if node.node_pool not in state.node_pools:
        # A node may be the first to name its pool.
        pool = NodePool(name=node.node_pool, create_index=index, modify_index=index)
        state.node_pools.put(pool.name, pool, index)
    _store(state, index, node)
    note_offered_volumes(state, index, node)
    upsert_evals(state, index, entry.evals)
    return NodeOutcome(node=state.nodes[node.id])


def set_node_status(state: State, index: int, entry: SetNodeStatus) -> NodeOutcome:
    """Store a node's new status."""
    old = state.nodes.get(entry.node_id)
    if old is None:
        return NodeOutcome(node=None)
    node = replace(
        old,
        status=entry.status,
        status_updated_at=entry.at // SECOND_NS,
        last_missed_heartbeat_index=_last_missed(old, entry.status, index),
        modify_index=index,
    )
    if entry.event:
        node = _with_event(node, entry.event, entry.at, index)
    _store(state, index, node)
    upsert_evals(state, index, entry.evals)
    return NodeOutcome(node=node)


def set_node_eligibility(state: State, index: int, entry: SetNodeEligibility) -> NodeOutcome:
    """Let work onto a node or keep it off; a draining node stays ineligible."""
    old = state.nodes.get(entry.node_id)
    if old is None:
        return NodeOutcome(node=None)
    if old.drain_strategy is not None and entry.eligibility == NODE_ELIGIBLE:
        return NodeOutcome(node=old)
    node = replace(old, scheduling_eligibility=entry.eligibility, modify_index=index)
    if entry.event:
        node = _with_event(node, entry.event, entry.at, index, entry.subsystem)
    _store(state, index, node)
    upsert_evals(state, index, entry.evals)
    return NodeOutcome(node=node)


def set_node_drain(state: State, index: int, entry: SetNodeDrain) -> NodeOutcome:
    """Begin, change or end a node's drain."""
    old = state.nodes.get(entry.node_id)
    if old is None:
        return NodeOutcome(node=None)
    eligibility = old.scheduling_eligibility
    if entry.drain is not None:
        eligibility = NODE_INELIGIBLE
    elif entry.mark_eligible:
        eligibility = NODE_ELIGIBLE
    node = replace(
        old,
        drain_strategy=entry.drain,
        scheduling_eligibility=eligibility,
        last_drain=_drain_record(old, entry),
        modify_index=index,
    )
    if entry.event:
        node = _with_event(node, entry.event, entry.at, index, SUBSYSTEM_DRAIN, entry.details)
    _store(state, index, node)
    upsert_evals(state, index, entry.evals)
    return NodeOutcome(node=node)


def deregister_nodes(state: State, index: int, entry: DeregisterNodes) -> None:
    """Forget nodes."""
    for node_id in entry.node_ids:
        state.nodes.delete(node_id, index)
        state.deliveries.drop_node(node_id, index)
    upsert_evals(state, index, entry.evals)


def _drain_record(old: Node, entry: SetNodeDrain) -> DrainMetadata | None:
    at = time_text(entry.at)
    if entry.drain is not None:
        if old.drain_strategy is None or old.last_drain is None:
            return DrainMetadata(
                started_at=at,
                updated_at=at,
                status="draining",
                accessor_id=entry.accessor_id,
                meta=entry.meta,
            )
        kept = entry.meta if entry.meta is not None else old.last_drain.meta
        return replace(old.last_drain, updated_at=at, meta=kept)
    if old.drain_strategy is None or old.last_drain is None:
        return old.last_drain
    status = "complete" if entry.is_complete else "canceled"
    kept = entry.meta if entry.meta is not None else old.last_drain.meta
    return replace(old.last_drain, updated_at=at, status=status, meta=kept)


def _last_missed(old: Node, status: str, index: int) -> int:
    """The index at which a node fell silent; 0 once it is ready again."""
    if status == NODE_READY:
        return 0
    if status in _SILENT and old.status not in _SILENT:
        return index
    return old.last_missed_heartbeat_index


def _store(state: State, index: int, node: Node) -> None:
    state.nodes.put(node.id, node, index)
    if node.is_ready:
        state.news.ready_nodes.append(node)


def _with_event(
    node: Node,
    message: str,
    at: Nanoseconds,
    index: int,
    subsystem: str = SUBSYSTEM_CLUSTER,
    details: Mapping[str, str] | None = None,
) -> Node:
    event = NodeEvent(
        message=message,
        subsystem=subsystem,
        details=dict(details) if details is not None else None,
        timestamp=time_text(at if index else at // SECOND_NS * SECOND_NS),
        create_index=index,
    )
    return replace(node, events=(*(node.events or ()), event)[-NODE_EVENTS_MAX:])
