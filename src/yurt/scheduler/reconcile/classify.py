"""Classification: what an allocation's own state and its node's mean for its job."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from yurt.model.alloc import (
    CLIENT_FAILED,
    CLIENT_PENDING,
    CLIENT_RUNNING,
    CLIENT_UNKNOWN,
    DESIRED_RUN,
    DESIRED_STOP,
    Allocation,
)
from yurt.model.node import NODE_DISCONNECTED, NODE_DOWN, NODE_READY, Node
from yurt.model.wire import Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import (
    awaits_reconnect,
    is_canary,
    is_expired,
    lost_after,
    replaces_on_disconnect,
    transition,
)
from yurt.scheduler.reconcile.tainted import TaintedNodes


class Class(Enum):
    """What reconciling does with an allocation."""

    UNTAINTED = auto()
    MIGRATE = auto()
    LOST = auto()
    DISCONNECTING = auto()
    RECONNECTING = auto()
    EXPIRING = auto()
    IGNORE = auto()


class Classified:
    """Allocations by class, each class in the order they were given."""

    def __init__(self) -> None:
        self.by_class: dict[Class, list[Allocation]] = {kind: [] for kind in Class}

    def of(self, kind: Class) -> list[Allocation]:
        """The allocations of one class."""
        return self.by_class[kind]


def classify_all(allocs: Iterable[Allocation], tainted: TaintedNodes, now: Nanoseconds) -> Classified:
    """Sort allocations into classes."""
    classified = Classified()
    untainted = classified.of(Class.UNTAINTED)
    for alloc in allocs:
        # Most allocations of most jobs: running where they are meant to, on a node in order.
        if (
            alloc.client_status in (CLIENT_RUNNING, CLIENT_PENDING)
            and alloc.desired_status == DESIRED_RUN
            and alloc.desired_transition is None
            and not alloc.alloc_states
            and alloc.node_id not in tainted
        ):
            untainted.append(alloc)
        else:
            classified.of(classify(alloc, tainted, now)).append(alloc)
    return classified


def classify(alloc: Allocation, tainted: TaintedNodes, now: Nanoseconds) -> Class:
    """Say what one allocation's state means, first match first."""
    reconnects = awaits_reconnect(alloc)
    if reconnects and alloc.desired_status == DESIRED_RUN and alloc.client_status == CLIENT_FAILED:
        return Class.RECONNECTING
    if alloc.is_terminal and not reconnects:
        return _classify_terminal(alloc)
    if is_expired(alloc, now):
        return Class.EXPIRING
    if reconnects and alloc.client_status == CLIENT_FAILED and alloc.desired_status == DESIRED_STOP:
        return Class.IGNORE
    is_tainted = alloc.node_id in tainted
    node = tainted.get(alloc.node_id)
    if node is not None and node.status == NODE_DISCONNECTED:
        return _classify_disconnected(alloc)
    if transition(alloc).migrate:
        return Class.MIGRATE
    if not is_tainted or (node is not None and node.status == NODE_READY):
        return Class.RECONNECTING if reconnects else Class.UNTAINTED
    return _classify_on_tainted(alloc, node)


def _classify_terminal(alloc: Allocation) -> Class:
    flags = transition(alloc)
    if alloc.is_server_terminal:
        return Class.UNTAINTED if flags.migrate_disable_placement else Class.IGNORE
    return Class.MIGRATE if is_canary(alloc) and flags.migrate else Class.UNTAINTED


def _classify_disconnected(alloc: Allocation) -> Class:
    if alloc.client_status == CLIENT_UNKNOWN:
        return Class.UNTAINTED
    if alloc.client_status == CLIENT_PENDING or lost_after(alloc) == 0:
        return Class.LOST
    return Class.DISCONNECTING


def _classify_on_tainted(alloc: Allocation, node: Node | None) -> Class:
    """On a node that is gone, down, or draining without being ready."""
    if node is None:
        return Class.LOST
    if node.status != NODE_DOWN:
        return Class.UNTAINTED
    if not replaces_on_disconnect(alloc):
        if alloc.client_status == CLIENT_UNKNOWN:
            return Class.UNTAINTED
        if alloc.client_status == CLIENT_RUNNING:
            return Class.DISCONNECTING
    return Class.LOST
