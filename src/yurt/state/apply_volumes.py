"""Applying changes of volumes made at run time."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.host_volume import VOLUME_PENDING, VOLUME_READY, DynamicVolume
from yurt.model.node import Node
from yurt.state.apply_volume_claims import drop_claims
from yurt.state.state import State
from yurt.state.volume_entries import DeleteHostVolume, DeleteVolumeClaim, VolumeEntry


def apply_volume_entry(state: State, index: int, entry: VolumeEntry) -> bool:
    """Apply one such entry; see `yurt.state.apply`. False if nothing came of it."""
    if isinstance(entry, DeleteVolumeClaim):
        return state.volume_claims.delete(entry.claim_id, index) is not None
    state.columns.forget()
    if isinstance(entry, DeleteHostVolume):
        drop_claims(state, index, volume_id=entry.volume_id)
        return state.host_volumes.delete(entry.volume_id, index) is not None
    volume = entry.volume
    old = state.host_volumes.get(volume.id)
    node = state.nodes.get(volume.node_id)
    status = VOLUME_READY if node is not None and _is_offered(volume, node) else VOLUME_PENDING
    state.host_volumes.put(
        volume.id,
        replace(
            volume,
            state=status,
            create_index=old.create_index if old is not None else index,
            create_time=old.create_time if old is not None else entry.at,
            modify_index=index,
            modify_time=entry.at,
        ),
        index,
    )
    return True


def note_offered_volumes(state: State, index: int, node: Node) -> None:
    """A node said what it offers: volumes that waited for that are ready."""
    if not len(state.host_volumes):
        return
    for volume in state.host_volumes.rows():
        if volume.node_id == node.id and volume.state == VOLUME_PENDING and _is_offered(volume, node):
            ready = replace(volume, state=VOLUME_READY, modify_index=index)
            state.host_volumes.put(volume.id, ready, index)
            state.columns.forget()


def _is_offered(volume: DynamicVolume, node: Node) -> bool:
    return any(offered.id == volume.id for offered in (node.host_volumes or {}).values())
