"""Volumes that are made on a node at run time."""

from __future__ import annotations

from yurt.model.placement_rules import Constraint
from yurt.model.wire import DEFAULT_NAMESPACE, Nanoseconds, NodeID, Wire

VOLUME_PENDING = "pending"
VOLUME_READY = "ready"
VOLUME_UNAVAILABLE = "unavailable"


class VolumeCapability(Wire, frozen=True, kw_only=True):
    """A way in which a volume may be used."""

    attachment_mode: str = ""
    access_mode: str = ""


class DynamicVolume(Wire, frozen=True, kw_only=True):
    """A directory of a node that was made, or registered, through the API.

    It is `pending` until its node offers it, then `ready`.
    """

    namespace: str = DEFAULT_NAMESPACE
    id: str = ""
    name: str = ""
    plugin_id: str = ""
    node_pool: str = ""
    node_id: NodeID = NodeID("")
    constraints: tuple[Constraint, ...] | None = None
    requested_capacity_min_bytes: int = 0
    requested_capacity_max_bytes: int = 0
    capacity_bytes: int = 0
    requested_capabilities: tuple[VolumeCapability, ...] | None = None
    parameters: dict[str, str] | None = None
    host_path: str = ""
    state: str = VOLUME_PENDING
    create_index: int = 0
    create_time: Nanoseconds = 0
    modify_index: int = 0
    modify_time: Nanoseconds = 0


def volume_problems(volume: DynamicVolume) -> list[str]:
    """What is wrong with a volume as somebody describes it."""
    problems = []
    if not volume.name:
        problems.append("missing name")
    low, high = volume.requested_capacity_min_bytes, volume.requested_capacity_max_bytes
    if high and high < low:
        problems.append(f"capacity_max ({high}) must be larger than capacity_min ({low})")
    return problems
