"""Drivers: a node must be able to run the tasks of a group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yurt.model.node import Node
from yurt.scheduler.operands import parse_bool
from yurt.state.columns import NodeColumns

LABEL = "missing drivers"


def has_driver(node: Node, driver: str) -> bool:
    """Whether a node has found a driver, and it works."""
    info = (node.drivers or {}).get(driver)
    if info is not None:
        return info.detected and info.healthy
    return parse_bool(node.attributes.get(f"driver.{driver}", "")) is True


def nodes_with_driver(columns: NodeColumns, driver: str) -> NDArray[np.bool_]:
    """Mask of the nodes with a working driver; kept until nodes change."""
    key = ("driver", driver)
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is not None:
        return known
    mask = np.fromiter(
        (node is not None and has_driver(node, driver) for node in columns.nodes), dtype=np.bool_
    )
    columns.keep(key, mask)
    return mask
