"""Exhaustion: what runs out first on the nodes that have no room."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from yurt.scheduler.metrics import Tally
from yurt.scheduler.rank.candidates import Field
from yurt.state.use import ALLOCS, CORES, CPU, DISK, MBITS, MEMORY

# In the order in which they are checked on a node.
LABELS = {
    MBITS: "network: bandwidth exceeded",
    CORES: "cores",
    ALLOCS: "max allocation exceeded",
    CPU: "cpu",
    MEMORY: "memory",
    DISK: "disk",
}


def count_exhausted(tally: Tally, field: Field, full: NDArray[np.intp], refused: Mapping[int, str]) -> None:
    """Count the candidates at `full`, which have no room, by what they lack.

    `refused` holds the reasons found while ports, devices or cores were assigned.
    """
    tally.exhausted += len(full)
    classes = field.view.columns.node_classes
    codes = np.bincount(classes.column[field.slots[full]]).tolist()
    for code, count in enumerate(codes):
        if code and count:
            name = classes.texts[code]
            tally.class_exhausted[name] = tally.class_exhausted.get(name, 0) + count
    if refused:
        named = np.isin(full, np.fromiter(refused, dtype=np.intp))
        for position in full[named].tolist():
            _add(tally, refused[position], 1)
        full = full[~named]
    for dimension, label in LABELS.items():
        if dimension in field.dimensions and len(full):
            lacks = field.room[dimension][full] < field.wanted_at(dimension, full)
            _add(tally, label, int(np.count_nonzero(lacks)))
            full = full[~lacks]


def exhausted_dimension(field: Field, position: int) -> str:
    """What runs out first on one node."""
    tally = Tally()
    count_exhausted(tally, field, np.asarray([position]), {})
    return next(iter(tally.dimension_exhausted), "")


def _add(tally: Tally, label: str, nodes: int) -> None:
    if nodes:
        tally.dimension_exhausted[label] = tally.dimension_exhausted.get(label, 0) + nodes
