"""The CPU that an instance with cores of its own needs on each node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yurt.scheduler.ask import Ask
from yurt.scheduler.assign.cores import assign_cores, usable_cores
from yurt.scheduler.rank.candidates import Ints
from yurt.scheduler.view import View
from yurt.state.columns import NodeColumns
from yurt.state.use import CPU

_MIXED = -1


def cpu_with_cores(view: View, ask: Ask, slots: NDArray[np.intp]) -> Ints:
    """CPU of one instance, by slot: what it asks for plus the MHz of the cores it would get there."""
    speeds = _core_speeds(view.columns)[slots]
    cpu = ask.amounts[CPU] + np.maximum(speeds, 0) * ask.cores_count
    for position in np.flatnonzero(speeds == _MIXED).tolist():
        slot = int(slots[position])
        node = view.columns.nodes[slot]
        given = assign_cores(node, view.claims(slot), ask.cores) if node is not None else None
        if given is not None:
            cpu[position] = ask.amounts[CPU] + sum(mhz for _, mhz in given.values())
    return np.asarray(cpu, dtype=np.int64)


def _core_speeds(columns: NodeColumns) -> Ints:
    """The speed of a core, by slot; -1 where cores differ. Kept until nodes change."""
    known: Ints | None = columns.memo.get("core speeds")
    if known is not None:
        return known
    speeds = np.zeros(columns.size, dtype=np.int64)
    for slot, node in enumerate(columns.nodes):
        distinct = set(usable_cores(node).values()) if node is not None else set()
        speeds[slot] = distinct.pop() if len(distinct) == 1 else _MIXED if distinct else 0
    columns.keep("core speeds", speeds)
    return speeds
