"""A view of State that also shows what this batch of evaluations has planned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yurt.model.plan import PlanChanges
from yurt.state.state import State


class View:
    """State plus plans that are not committed yet.

    Several evaluations are scheduled against one view, each seeing the ones before it; a plan enters
    with `add`. State itself is never changed, and must not change while the view is in use.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        columns = state.columns
        self.size = columns.size
        self.cpu_used_mhz: NDArray[np.int64] = columns.cpu_used_mhz[: self.size].copy()
        self.memory_used_mb: NDArray[np.int64] = columns.memory_used_mb[: self.size].copy()
        self.disk_used_mb: NDArray[np.int64] = columns.disk_used_mb[: self.size].copy()

    def add(self, changes: PlanChanges) -> None:
        """Take over what a plan changes."""
        for placements in changes.placements:
            slots = [self.state.columns.slots[node_id] for node_id in placements.node_ids]
            counts = np.bincount(np.asarray(slots, dtype=np.intp), minlength=self.size)
            self.cpu_used_mhz += counts * placements.resources.cpu_mhz
            self.memory_used_mb += counts * placements.resources.memory_mb
            self.disk_used_mb += counts * placements.resources.shared.disk_mb
        for stop in changes.stops:
            for alloc_id in stop.ids:
                alloc = self.state.allocs.get(alloc_id)
                slot = self.state.columns.slots.get(alloc.node_id) if alloc is not None else None
                if alloc is not None and slot is not None and not alloc.is_terminal:
                    self.cpu_used_mhz[slot] -= alloc.resources.cpu_mhz
                    self.memory_used_mb[slot] -= alloc.resources.memory_mb
                    self.disk_used_mb[slot] -= alloc.resources.shared.disk_mb
