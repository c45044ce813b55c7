"""Volumes: a node must offer the volumes of a group."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.node import Node
from yurt.model.volume import VolumeRequest
from yurt.state.columns import NodeColumns

LABEL = "missing compatible host volumes"
HOST_VOLUME, CSI_VOLUME = "host", "csi"

_READER_MODES = ("single-node-reader-only",)
_WRITER_MODES = ("single-node-writer", "single-node-single-writer", "single-node-multi-writer")


def has_volume(node: Node, request: VolumeRequest, source: str) -> bool:
    """Whether a node's host volume `source` serves a request.

    A volume of the node's own configuration has no id: it cannot be claimed for good (`sticky`), and
    knows no access modes. One that was created through the API has an id, and the node lists it only
    while it is ready.
    """
    volume = (node.host_volumes or {}).get(source)
    if volume is None or (volume.read_only and not request.read_only):
        return False
    if not volume.id:
        return not request.sticky
    if request.access_mode in _READER_MODES:
        return request.read_only
    if request.access_mode in _WRITER_MODES:
        return not request.read_only
    return not request.access_mode


def host_volumes(group: TaskGroup) -> Iterator[VolumeRequest]:
    """The host volumes a group asks for."""
    return (request for request in (group.volumes or {}).values() if request.type == HOST_VOLUME)


def csi_volumes(group: TaskGroup) -> Iterator[VolumeRequest]:
    """The CSI volumes a group asks for."""
    return (request for request in (group.volumes or {}).values() if request.type == CSI_VOLUME)


def volumes_per_alloc(group: TaskGroup) -> bool:
    """Whether each instance of a group has host volumes of its own."""
    return any(request.per_alloc for request in host_volumes(group))


def volume_source(request: VolumeRequest, name_index: int) -> str:
    """The name of the volume that one instance asks for."""
    return f"{request.source}[{name_index}]" if request.per_alloc else request.source


def nodes_with_volumes(columns: NodeColumns, group: TaskGroup, name_index: int) -> NDArray[np.bool_] | None:
    """Mask of the nodes with all host volumes of one instance; None if it asks for none."""
    mask: NDArray[np.bool_] | None = None
    for request in host_volumes(group):
        one = _nodes_with(columns, request, volume_source(request, name_index))
        mask = one if mask is None else mask & one
    return mask


def _nodes_with(columns: NodeColumns, request: VolumeRequest, source: str) -> NDArray[np.bool_]:
    key = ("volume", source, request.read_only, request.sticky, request.access_mode)
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is not None:
        return known
    mask = np.fromiter(
        (node is not None and has_volume(node, request, source) for node in columns.nodes), dtype=np.bool_
    )
    columns.keep(key, mask)
    return mask
