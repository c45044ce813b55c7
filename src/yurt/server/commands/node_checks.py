"""What a node may say about itself and its allocations.

What passes here is written to the log and applied without further question, now and at every restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from yurt.errors import YurtError
from yurt.model.alloc import CLIENT_STATUSES
from yurt.model.client_protocol import AllocUpdate
from yurt.model.node import NODE_STATUSES, Node
from yurt.model.times import time_ns
from yurt.model.wire import Time

# A node has less of anything; sums over all nodes still fit into 64 bits.
AMOUNT_MAX = 1 << 40


class NodeRefused(YurtError):
    """The servers do not take what a node says."""


def check_node(node: Node) -> None:
    """Check a registration. Raises NodeRefused."""
    if not node.id or not node.secret_id:
        raise NodeRefused("a node registers with an id and a secret_id; it keeps both in its data_dir")
    check_node_status(node.status)
    for name, amount in _amounts(node):
        if not 0 <= amount <= AMOUNT_MAX:
            raise NodeRefused(f"node {node.id} reports {name} = {amount}; it must be from 0 to {AMOUNT_MAX}")


def check_node_status(status: str) -> None:
    """Check the status a node gives itself. Raises NodeRefused."""
    if status not in NODE_STATUSES:
        raise NodeRefused(f"{status!r} is no status of a node; it is one of {', '.join(NODE_STATUSES)}")


def check_updates(updates: Iterable[AllocUpdate]) -> None:
    """Check reports about allocations. Raises NodeRefused."""
    for update in updates:
        if update.client_status not in CLIENT_STATUSES:
            raise NodeRefused(
                f"allocation {update.id} is reported as {update.client_status!r}; "
                f"it is one of {', '.join(CLIENT_STATUSES)}"
            )
        for name, time in _times(update):
            try:
                time_ns(time)
            except ValueError as error:
                raise NodeRefused(f"allocation {update.id} is reported with a bad {name}: {error}") from error


def _amounts(node: Node) -> Iterator[tuple[str, int]]:
    has, kept = node.node_resources, node.reserved_resources
    yield "cpu_shares", has.cpu.cpu_shares
    yield "memory_mb", has.memory.memory_mb
    yield "disk_mb", has.disk.disk_mb
    yield "reserved cpu_shares", kept.cpu.cpu_shares
    yield "reserved memory_mb", kept.memory.memory_mb
    yield "reserved disk_mb", kept.disk.disk_mb
    yield "node_max_allocs", node.node_max_allocs
    yield "min_dynamic_port", has.min_dynamic_port
    yield "max_dynamic_port", has.max_dynamic_port
    for network in has.networks or ():
        yield "mbits", network.mbits
    yield from (node.countables or {}).items()


def _times(update: AllocUpdate) -> Iterator[tuple[str, Time]]:
    if update.deployment_status is not None:
        yield "deployment status time", update.deployment_status.timestamp
    for task in update.task_states.values():
        yield "started_at", task.started_at
        yield "finished_at", task.finished_at
        yield "last_restart", task.last_restart
