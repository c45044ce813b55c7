"""Capacity and use of all nodes, as columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.host_volume import DynamicVolume
from yurt.model.node import Node
from yurt.model.times import MINUTE_NS
from yurt.model.wire import Nanoseconds, NodeID
from yurt.state.codes import Codes
from yurt.state.port_ranges import parse_ports
from yurt.state.use import ALLOCS, CORES, CPU, DIMENSIONS, DISK, MBITS, MEMORY, PORTS, DeviceKey, Use, use_of

# Fewer allocations than this are counted one by one: a pass over all nodes would cost more.
COUNTED_ALONE_MAX = 16

UNLIMITED = 1 << 40
# Answers kept about nodes, each about as large as a column of flags.
MEMO_MAX = 500
# They are dropped when nodes change, and after this time in any case.
KEPT_FOR_NS = 10 * MINUTE_NS

_FIRST_SIZE = 64


class NodeColumns:
    """One slot per node in every column; `apply` keeps them current.

    A slot keeps its node until the node is dropped, then may serve another. `capacity` is what tasks
    may use: the node's resources less what it reserves. `used` counts allocations whose tasks may
    still run; `stopping` is the part of it that servers have told to stop. Rows are the dimensions of
    `yurt.state.use`.
    """

    def __init__(self) -> None:
        self.slots: dict[NodeID, int] = {}
        self.nodes: list[Node | None] = []
        self.node_ids: list[NodeID | None] = []
        self.capacity: NDArray[np.int64] = np.zeros((DIMENSIONS, _FIRST_SIZE), dtype=np.int64)
        self.used: NDArray[np.int64] = np.zeros((DIMENSIONS, _FIRST_SIZE), dtype=np.int64)
        self.stopping: NDArray[np.int64] = np.zeros((DIMENSIONS, _FIRST_SIZE), dtype=np.int64)
        self.ready: NDArray[np.bool_] = np.zeros(_FIRST_SIZE, dtype=np.bool_)
        self.devices_used: dict[DeviceKey, NDArray[np.int64]] = {}
        self.datacenters = Codes(_FIRST_SIZE)
        self.node_pools = Codes(_FIRST_SIZE)
        self.node_classes = Codes(_FIRST_SIZE)
        self.computed_classes = Codes(_FIRST_SIZE)
        # Answers about nodes' facts (`memo`), and about which of them are ready (`ready_memo`). They are
        # dropped when those change, so whoever schedules may keep here what takes long to work out.
        self.memo: dict[Hashable, Any] = {}
        self.ready_memo: dict[Hashable, Any] = {}
        self._kept_since: Nanoseconds = 0
        # Set by the table of allocations: what is on a node that (re)appears.
        self.allocs_of: Callable[[NodeID], Iterable[Allocation]] = lambda _: ()
        # Set by State: the volume that was made at run time under an id.
        self.volume_of: Callable[[str], DynamicVolume | None] = lambda _: None
        self._free: list[int] = []

    @property
    def size(self) -> int:
        """How many slots are or were in use; columns are meaningful up to here."""
        return len(self.nodes)

    def keep(self, key: Hashable, answer: Any) -> None:  # noqa: ANN401  # holds answers of every kind
        """Keep an answer that holds while nodes' facts stay as they are."""
        if len(self.memo) >= MEMO_MAX:
            self.memo.clear()
        self.memo[key] = answer

    def keep_ready(self, key: Hashable, answer: Any) -> None:  # noqa: ANN401  # as above
        """Keep an answer that holds while nodes' facts and readiness stay as they are."""
        if len(self.ready_memo) >= MEMO_MAX:
            self.ready_memo.clear()
        self.ready_memo[key] = answer

    def forget(self) -> None:
        """Drop what is kept: something that answers about nodes rest on has changed."""
        self.memo.clear()
        self.ready_memo.clear()

    def expire(self, now: Nanoseconds) -> None:
        """Drop what is kept once its time is over; whoever schedules calls this before each batch."""
        if now - self._kept_since > KEPT_FOR_NS:
            self.forget()
            self._kept_since = now

    def set_node(self, node: Node) -> None:
        """Take over what a node has, and whether it is ready."""
        slot = self.slots.get(node.id)
        is_new = slot is None
        if slot is None:
            slot = self._take_slot(node.id)
        old = self.nodes[slot]
        self.nodes[slot] = node
        if old is None or _facts_differ(old, node):
            self._set_facts(slot, node)
            self.memo.clear()
            self.ready_memo.clear()
        if self.ready[slot] != node.is_ready:
            self.ready[slot] = node.is_ready
            self.ready_memo.clear()
        if is_new:
            for alloc in self.allocs_of(node.id):
                self.change(alloc.node_id, alloc, 1)

    def drop_node(self, node_id: NodeID) -> None:
        """Free a node's slot."""
        slot = self.slots.pop(node_id, None)
        if slot is None:
            return
        self.nodes[slot] = self.node_ids[slot] = None
        self.ready[slot] = False
        for column in (self.capacity, self.used, self.stopping):
            column[:, slot] = 0
        for devices in self.devices_used.values():
            devices[slot] = 0
        self.memo.clear()
        self.ready_memo.clear()
        self._free.append(slot)

    def change(self, node_id: NodeID, alloc: Allocation, times: int) -> None:
        """Count an allocation `times` times more, as what it is: using, stopping, or neither."""
        slot = self.slots.get(node_id)
        if slot is None or alloc.is_client_terminal:
            return  # the node is gone, and nothing is placed there any more; or all tasks have ended
        use = use_of(alloc.resources)
        add_use(self.used, slot, use, times)
        if alloc.is_server_terminal:
            add_use(self.stopping, slot, use, times)
        for key, count in use.devices:
            self._devices(key)[slot] += times * count

    def use_each(self, node_ids: Sequence[NodeID], resources: AllocatedResources) -> None:
        """Count the same `resources` once for each of `node_ids`, which may repeat."""
        use = use_of(resources)
        found = [slot for slot in map(self.slots.get, node_ids) if slot is not None]
        if len(found) <= COUNTED_ALONE_MAX:
            for slot in found:
                add_use(self.used, slot, use, 1)
                for key, count in use.devices:
                    self._devices(key)[slot] += count
            return
        counts = np.bincount(np.asarray(found, dtype=np.intp), minlength=len(self.ready))
        for dimension, amount in enumerate(use.amounts):
            if amount:
                self.used[dimension] += counts * amount
        for key, count in use.devices:
            self._devices(key)[:] += counts * count

    def devices_in_use(self, key: DeviceKey) -> NDArray[np.int64]:
        """How many devices of one kind are in use, by slot; not to be changed."""
        column = self.devices_used.get(key)
        return column if column is not None else np.zeros(len(self.ready), dtype=np.int64)

    def _devices(self, key: DeviceKey) -> NDArray[np.int64]:
        column = self.devices_used.get(key)
        if column is None:
            column = self.devices_used[key] = np.zeros(len(self.ready), dtype=np.int64)
        return column

    def _set_facts(self, slot: int, node: Node) -> None:
        has, kept = node.node_resources, node.reserved_resources
        cores = has.cpu.reservable_cpu_cores or ()
        self.capacity[CPU, slot] = has.cpu.cpu_shares - kept.cpu.cpu_shares
        self.capacity[MEMORY, slot] = has.memory.memory_mb - kept.memory.memory_mb
        self.capacity[DISK, slot] = has.disk.disk_mb - kept.disk.disk_mb
        self.capacity[ALLOCS, slot] = node.node_max_allocs or UNLIMITED
        self.capacity[MBITS, slot] = sum(network.mbits for network in has.networks or ())
        self.capacity[CORES, slot] = len(set(cores) - set(kept.cpu.reserved_cpu_cores or ()))
        dynamic = range(has.min_dynamic_port, has.max_dynamic_port + 1)
        reserved = parse_ports(kept.networks.reserved_host_ports)
        taken = sum(port in dynamic for port in reserved) if reserved is not None else len(dynamic)
        self.capacity[PORTS, slot] = len(dynamic) - taken
        self.datacenters.put(slot, node.datacenter)
        self.node_pools.put(slot, node.node_pool)
        self.node_classes.put(slot, node.node_class)
        self.computed_classes.put(slot, node.computed_class)

    def _take_slot(self, node_id: NodeID) -> int:
        if self._free:
            slot = self._free.pop()
        else:
            slot = len(self.nodes)
            self.nodes.append(None)
            self.node_ids.append(None)
            if slot == len(self.ready):
                self._grow()
        self.slots[node_id] = slot
        self.node_ids[slot] = node_id
        return slot

    def _grow(self) -> None:
        more = len(self.ready)
        self.capacity = _widened(self.capacity, more)
        self.used = _widened(self.used, more)
        self.stopping = _widened(self.stopping, more)
        self.ready = np.concatenate([self.ready, np.zeros(more, dtype=np.bool_)])
        for key, column in self.devices_used.items():
            self.devices_used[key] = np.concatenate([column, np.zeros(more, dtype=np.int64)])
        for codes in (self.datacenters, self.node_pools, self.node_classes, self.computed_classes):
            codes.grow(more)


def add_use(column: NDArray[np.int64], slot: int, use: Use, times: int) -> None:
    """Add the amounts of `use` to one slot of a column, `times` times."""
    for dimension, amount in enumerate(use.amounts):
        if amount:
            column[dimension, slot] += times * amount


def _widened(column: NDArray[np.int64], more: int) -> NDArray[np.int64]:
    return np.concatenate([column, np.zeros((DIMENSIONS, more), dtype=np.int64)], axis=1)


# What a change of status, eligibility or drain leaves as it is.
_FACTS = (
    "name",
    "datacenter",
    "node_class",
    "node_pool",
    "computed_class",
    "attributes",
    "meta",
    "drivers",
    "host_volumes",
    "node_max_allocs",
    "countables",
    "node_resources",
    "reserved_resources",
)


def _facts_differ(old: Node, new: Node) -> bool:
    return any(
        (was := getattr(old, name)) is not (now := getattr(new, name)) and was != now for name in _FACTS
    )
