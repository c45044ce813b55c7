"""Push nodes: what they have not said they are not judged by, and what they cannot run they do not get."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.push_nodes import is_push_node, suits_push_nodes
from yurt.state.columns import NodeColumns

LABEL = "push node runs only processes and containers"

_META = "${meta."


def push_nodes(columns: NodeColumns) -> NDArray[np.bool_]:
    """Mask of the push nodes; kept until nodes change."""
    key = ("push nodes",)
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is None:
        known = np.fromiter(
            (node is not None and is_push_node(node) for node in columns.nodes), dtype=np.bool_
        )
        columns.keep(key, known)
    return known


def nodes_that_say_nothing(columns: NodeColumns, target: str) -> NDArray[np.bool_]:
    """Mask of the push nodes that never declared a property: metadata is all that they can declare."""
    mask = push_nodes(columns)
    if not target.startswith(_META):
        return mask
    name = target[len(_META) : -1]
    silent = [node is None or name not in (node.meta or {}) for node in columns.nodes]
    return np.asarray(mask & np.asarray(silent, dtype=np.bool_))


def nodes_for(columns: NodeColumns, group: TaskGroup) -> NDArray[np.bool_] | None:
    """Mask of the nodes whose kind can run a group; None if all can."""
    if suits_push_nodes(group):
        return None
    mask = push_nodes(columns)
    return ~mask if mask.any() else None
