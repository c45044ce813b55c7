"""Volumes that groups ask for."""

from __future__ import annotations

from yurt.model.wire import Wire, wire_names


class MountOptions(Wire, frozen=True, kw_only=True, rename=wire_names(fs_type="FSType")):
    """File system options of a CSI volume."""

    fs_type: str = ""
    mount_flags: tuple[str, ...] | None = None


class VolumeRequest(Wire, frozen=True, kw_only=True):
    """A host or CSI volume that a group needs on its node."""

    name: str = ""
    type: str = ""
    source: str = ""
    read_only: bool = False
    sticky: bool = False
    access_mode: str = ""
    attachment_mode: str = ""
    mount_options: MountOptions | None = None
    per_alloc: bool = False
