"""Volumes: a node must offer the volumes of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.host_volume import VOLUME_READY, DynamicVolume, VolumeCapability
from yurt.model.node import Node
from yurt.model.volume import VolumeRequest
from yurt.state.columns import NodeColumns

LABEL = "missing compatible host volumes"
HOST_VOLUME, CSI_VOLUME = "host", "csi"

_READER, _WRITER = "single-node-reader-only", "single-node-writer"
_FILE_SYSTEM = "file-system"
# What a volume may be used as that says nothing about that.
_USUAL = (VolumeCapability(access_mode=_WRITER, attachment_mode=_FILE_SYSTEM),)


def has_volume(
    node: Node,
    request: VolumeRequest,
    source: str,
    *,
    namespace: str,
    volume_of: Callable[[str], DynamicVolume | None],
) -> bool:
    """Whether a node's host volume `source` serves a request from a namespace.

    A volume of the node's own configuration has no id: it cannot be claimed for good (`sticky`), and
    knows neither namespaces nor access modes. One that was made at run time (`volume_of` its id) serves
    its own namespace, once it is ready, in the ways that it was made for.
    """
    volume = (node.host_volumes or {}).get(source)
    if volume is None or (volume.read_only and not request.read_only):
        return False
    if not volume.id:
        return not request.sticky
    made = volume_of(volume.id)
    if made is None or made.namespace != namespace or made.state != VOLUME_READY:
        return False
    wanted = VolumeCapability(
        access_mode=request.access_mode or (_READER if request.read_only else _WRITER),
        attachment_mode=request.attachment_mode or _FILE_SYSTEM,
    )
    suits = request.read_only if wanted.access_mode == _READER else not request.read_only
    return suits and wanted in (made.requested_capabilities or _USUAL)


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


def nodes_with_volumes(
    columns: NodeColumns, namespace: str, group: TaskGroup, name_index: int
) -> NDArray[np.bool_] | None:
    """Mask of the nodes with all host volumes of one instance; None if it asks for none."""
    mask: NDArray[np.bool_] | None = None
    for request in host_volumes(group):
        one = _nodes_with(columns, namespace, request, volume_source(request, name_index))
        mask = one if mask is None else mask & one
    return mask


def _nodes_with(
    columns: NodeColumns, namespace: str, request: VolumeRequest, source: str
) -> NDArray[np.bool_]:
    how = (request.read_only, request.sticky, request.access_mode, request.attachment_mode)
    key = ("volume", namespace, source, *how)
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is not None:
        return known
    mask = np.fromiter(
        (
            node is not None
            and has_volume(node, request, source, namespace=namespace, volume_of=columns.volume_of)
            for node in columns.nodes
        ),
        dtype=np.bool_,
    )
    columns.keep(key, mask)
    return mask
