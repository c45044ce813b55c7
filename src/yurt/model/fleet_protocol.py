"""What a process that speaks for many nodes and the servers tell each other."""

from __future__ import annotations

import msgspec

from yurt.model.client_protocol import AllocUpdate
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.wire import AllocID, Nanoseconds, NodeID


class _Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A message of the internal protocol, msgpack on the wire."""


class JoinFleet(_Message, frozen=True, kw_only=True):
    """Register nodes that share a process; `fleet_id` empty begins a fleet, else they join that one."""

    nodes: tuple[Node, ...]
    fleet_id: str = ""


class FleetJoined(_Message, frozen=True, kw_only=True):
    """The fleet's id, which proves to later calls that the nodes' secrets were shown."""

    fleet_id: str
    heartbeat_ttl: Nanoseconds


class FleetHeartbeat(_Message, frozen=True, kw_only=True):
    """A sign of life from those nodes of a fleet that are not in `silent`."""

    fleet_id: str
    silent: tuple[NodeID, ...] = ()


class FleetBeaten(_Message, frozen=True, kw_only=True):
    """When to beat again. `is_known` False asks the fleet to join anew: the servers do not know it.

    `returned` are nodes that had been given up: what they run is to be reported again.
    """

    heartbeat_ttl: Nanoseconds
    is_known: bool = True
    returned: tuple[NodeID, ...] = ()


class WatchFleet(_Message, frozen=True, kw_only=True):
    """Ask for the allocations that changed since the last answer, waiting for some if there are none."""

    fleet_id: str
    wait: Nanoseconds


class FleetAlloc(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An allocation as a fleet needs it; `job` is a position in the answer's `jobs`."""

    id: AllocID
    node_id: NodeID
    job: int
    task_group: str
    name: str
    desired_status: str
    client_status: str
    deployment_id: str
    alloc_modify_index: int


class FleetAllocs(_Message, frozen=True, kw_only=True):
    """Allocations of a fleet's nodes that changed, and those that were dropped."""

    is_known: bool = True
    jobs: tuple[Job, ...] = ()
    allocs: tuple[FleetAlloc, ...] = ()
    removed: tuple[AllocID, ...] = ()


class ReportFleet(_Message, frozen=True, kw_only=True):
    """Reports about allocations of a fleet's nodes."""

    fleet_id: str
    updates: tuple[AllocUpdate, ...]


class LeaveFleet(_Message, frozen=True, kw_only=True):
    """Forget nodes of a fleet; all of them if none is named."""

    fleet_id: str
    node_ids: tuple[NodeID, ...] = ()
