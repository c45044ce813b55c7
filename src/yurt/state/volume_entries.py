"""The entries about volumes made at run time."""

from __future__ import annotations

from typing import TypeAlias

from yurt.model.host_volume import DynamicVolume
from yurt.state.entry_base import EntryBase


class UpsertHostVolume(EntryBase, frozen=True, kw_only=True):
    """A volume is new or replaced."""

    volume: DynamicVolume


class DeleteHostVolume(EntryBase, frozen=True, kw_only=True):
    """A volume is forgotten."""

    volume_id: str


class DeleteVolumeClaim(EntryBase, frozen=True, kw_only=True):
    """A group's claim on a volume is forgotten; the volume stays."""

    claim_id: str


VolumeEntry: TypeAlias = UpsertHostVolume | DeleteHostVolume | DeleteVolumeClaim
"""What becomes of volumes made at run time."""
