"""Targets: the node properties that constraints, affinities and spreads name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yurt.model.node import Node
from yurt.model.push_nodes import NODE_ID_ATTRIBUTE, public_node_id
from yurt.state.columns import NodeColumns

_UNIQUE = ("${unique.", "${node.unique.", "${attr.unique.", "${meta.unique.", "${any.unique.")
_ATTR, _META, _ANY = "${attr.", "${meta.", "${any."


class TargetColumn(NamedTuple):
    """The values of a target over all nodes: `values[codes[slot]]`; None where a node has none."""

    codes: NDArray[np.int32]
    values: tuple[str | None, ...]
    numbers: dict[str | None, int]


def is_literal(target: str) -> bool:
    """Whether a target stands for itself."""
    return not target.startswith("${")


def is_unique(target: str) -> bool:
    """Whether a target may differ between nodes of one computed class."""
    return target.startswith(_UNIQUE)


def resolve(node: Node, target: str) -> str | None:
    """The value of a target on a node; None if the node has none."""
    if is_literal(target):
        return target
    if target.startswith(_ATTR) and target.endswith("}"):
        return node.attributes.get(target[len(_ATTR) : -1])
    if target.startswith(_META) and target.endswith("}"):
        return (node.meta or {}).get(target[len(_META) : -1])
    if target.startswith(_ANY) and target.endswith("}"):
        return _attribute_or_meta(node, target[len(_ANY) : -1])
    return _plain(node, target)


def _attribute_or_meta(node: Node, name: str) -> str | None:
    """An attribute, or else metadata; every node has its id."""
    if name == NODE_ID_ATTRIBUTE:
        return public_node_id(node)
    found = node.attributes.get(name)
    return found if found is not None else (node.meta or {}).get(name)


def _plain(node: Node, target: str) -> str | None:
    match target:
        case "${node.unique.id}":
            return node.id
        case "${node.unique.name}":
            return node.name
        case "${node.datacenter}":
            return node.datacenter
        case "${node.class}":
            return node.node_class
        case "${node.pool}":
            return node.node_pool
        case _:
            return None


def target_column(columns: NodeColumns, target: str) -> TargetColumn:
    """The values of a target over all nodes; kept until nodes change."""
    key = ("target", target)
    known: TargetColumn | None = columns.memo.get(key)
    if known is not None:
        return known
    numbers: dict[str | None, int] = {}
    codes = [
        numbers.setdefault(resolve(node, target) if node is not None else None, len(numbers))
        for node in columns.nodes
    ]
    column = TargetColumn(np.asarray(codes, dtype=np.int32), tuple(numbers), numbers)
    columns.keep(key, column)
    return column
