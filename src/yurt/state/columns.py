"""Capacity and use of all nodes, as columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from yurt.model.allocated import AllocatedResources
from yurt.model.node import Node
from yurt.model.wire import NodeID

_FIRST_SIZE = 64
_CAPACITY = ("cpu_mhz", "memory_mb", "disk_mb")
_USE = ("cpu_used_mhz", "memory_used_mb", "disk_used_mb", "allocs")


class NodeColumns:
    """One slot per node in every column; `apply` keeps them current.

    A slot keeps its node until the node is dropped, then may serve another. Capacity is what tasks
    may use: the node's resources less what it reserves. Use counts allocations that are not terminal.
    """

    def __init__(self) -> None:
        self.slots: dict[NodeID, int] = {}
        self.node_ids: list[NodeID | None] = []
        self._free: list[int] = []
        self.cpu_mhz: NDArray[np.int64]
        self.memory_mb: NDArray[np.int64]
        self.disk_mb: NDArray[np.int64]
        self.cpu_used_mhz: NDArray[np.int64]
        self.memory_used_mb: NDArray[np.int64]
        self.disk_used_mb: NDArray[np.int64]
        self.allocs: NDArray[np.int64]
        self.ready: NDArray[np.bool_] = np.zeros(_FIRST_SIZE, dtype=np.bool_)
        for name in (*_CAPACITY, *_USE):
            setattr(self, name, np.zeros(_FIRST_SIZE, dtype=np.int64))

    @property
    def size(self) -> int:
        """How many slots are or were in use; columns are meaningful up to here."""
        return len(self.node_ids)

    def set_node(self, node: Node) -> None:
        """Take over a node's capacity and readiness."""
        slot = self.slots.get(node.id)
        if slot is None:
            slot = self._take_slot(node.id)
        has, kept = node.node_resources, node.reserved_resources
        self.cpu_mhz[slot] = has.cpu.cpu_shares - kept.cpu.cpu_shares
        self.memory_mb[slot] = has.memory.memory_mb - kept.memory.memory_mb
        self.disk_mb[slot] = has.disk.disk_mb - kept.disk.disk_mb
        self.ready[slot] = node.is_ready

    def drop_node(self, node_id: NodeID) -> None:
        """Free a node's slot."""
        slot = self.slots.pop(node_id, None)
        if slot is None:
            return
        self.node_ids[slot] = None
        self.ready[slot] = False
        for name in (*_CAPACITY, *_USE):
            getattr(self, name)[slot] = 0
        self._free.append(slot)

    def use(self, node_id: NodeID, resources: AllocatedResources, times: int) -> None:
        """Count `resources` as used on a node `times` times more; negative to give them back."""
        slot = self.slots.get(node_id)
        if slot is None:
            return  # the node is gone; nothing is placed there any more
        self.cpu_used_mhz[slot] += times * resources.cpu_mhz
        self.memory_used_mb[slot] += times * resources.memory_mb
        self.disk_used_mb[slot] += times * resources.shared.disk_mb
        self.allocs[slot] += times

    def use_each(self, node_ids: Sequence[NodeID], resources: AllocatedResources) -> None:
        """Count the same `resources` once for each of `node_ids`, which may repeat."""
        found = [slot for slot in map(self.slots.get, node_ids) if slot is not None]
        counts = np.bincount(np.asarray(found, dtype=np.intp), minlength=len(self.allocs))
        self.cpu_used_mhz += counts * resources.cpu_mhz
        self.memory_used_mb += counts * resources.memory_mb
        self.disk_used_mb += counts * resources.shared.disk_mb
        self.allocs += counts

    def _take_slot(self, node_id: NodeID) -> int:
        if self._free:
            slot = self._free.pop()
            self.node_ids[slot] = node_id
        else:
            slot = len(self.node_ids)
            self.node_ids.append(node_id)
            if slot == len(self.allocs):
                self._grow()
        self.slots[node_id] = slot
        return slot

    def _grow(self) -> None:
        more = len(self.allocs)
        for name in (*_CAPACITY, *_USE, "ready"):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros(more, dtype=column.dtype)]))
