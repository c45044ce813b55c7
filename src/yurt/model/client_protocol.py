"""What node agents and servers tell each other."""

from __future__ import annotations

import msgspec

from yurt.model.alloc import AllocDeploymentStatus, DesiredTransition, NetworkStatus
from yurt.model.allocated import AllocatedResources
from yurt.model.job import Job
from yurt.model.node import Node
from yurt.model.service_registration import ServiceRegistration
from yurt.model.task_state import TaskState
from yurt.model.wire import AllocID, EvalID, Nanoseconds, NodeID


class _Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A message of the internal protocol, msgpack on the wire."""


class RegisterNode(_Message, frozen=True, kw_only=True):
    """Make a node known, or say what changed about it; `intro_token` shows that a new one is expected."""

    node: Node
    intro_token: str = ""


class Peer(_Message, frozen=True, kw_only=True):
    """Another node, to which the way is to be measured: its HTTP address, and its place as far as known."""

    address: str
    coordinate: str = ""


class NodeRegistered(_Message, frozen=True, kw_only=True):
    """The servers' answer to a registration or a heartbeat."""

    index: int
    heartbeat_ttl: Nanoseconds
    # False asks the agent to register again: the servers do not know it.
    is_known: bool = True
    servers: tuple[str, ...] = ()
    peers: tuple[Peer, ...] = ()


class Heartbeat(_Message, frozen=True, kw_only=True):
    """A sign of life."""

    node_id: NodeID
    secret_id: str
    status: str = "ready"


class WatchAllocs(_Message, frozen=True, kw_only=True):
    """Ask for the node's allocations, waiting until they differ from those at `min_index`.

    `known` is what the agent already has, as alloc id → `alloc_modify_index`, so that jobs are not
    sent again.
    """

    node_id: NodeID
    secret_id: str
    min_index: int
    wait: Nanoseconds
    known: dict[AllocID, int] = {}


class ClientAlloc(_Message, frozen=True, kw_only=True):
    """An allocation as its node needs it."""

    id: AllocID
    name: str
    namespace: str
    node_id: NodeID
    eval_id: EvalID
    job: Job
    task_group: str
    resources: AllocatedResources
    desired_status: str
    desired_transition: DesiredTransition | None = None
    client_status: str = "pending"
    previous_allocation: str = ""
    preempted_allocations: tuple[str, ...] = ()
    deployment_id: str = ""
    deployment_status: AllocDeploymentStatus | None = None
    create_time: Nanoseconds = 0
    alloc_modify_index: int = 0

    @property
    def is_external(self) -> bool:
        """Whether another control plane placed it here: the servers know nothing of it."""
        return not self.eval_id


class WatchPrevious(_Message, frozen=True, kw_only=True):
    """Ask, waiting at most `wait`, for the end of the allocation that one of the node's own replaces."""

    node_id: NodeID
    secret_id: str
    alloc_id: AllocID
    wait: Nanoseconds = 0


class PreviousAlloc(_Message, frozen=True, kw_only=True):
    """Whether a previous allocation has ended, and where its data can be fetched with `token`.

    Without an `address` its data is lost, or nobody knows what became of it.
    """

    is_over: bool
    address: str = ""
    uses_tls: bool = False
    token: str = ""


class MakeVolume(_Message, frozen=True, kw_only=True):
    """A volume that a node is to make with a plugin, or to offer as it is at `host_path`."""

    id: str
    name: str
    namespace: str
    plugin_id: str = ""
    host_path: str = ""
    capacity_min_bytes: int = 0
    capacity_max_bytes: int = 0
    parameters: dict[str, str] = {}


class VolumeMade(_Message, frozen=True, kw_only=True):
    """Where a volume is on its node, and how large."""

    path: str = ""
    bytes: int = 0


class NodeAllocs(_Message, frozen=True, kw_only=True):
    """All allocations of a node: `index` per id, and the whole of those that changed.

    An allocation that is not in `modify_indexes` was dropped by the servers.
    """

    index: int
    modify_indexes: dict[AllocID, int]
    changed: tuple[ClientAlloc, ...] = ()


class AllocUpdate(_Message, frozen=True, kw_only=True):
    """What a node reports about one allocation."""

    id: AllocID
    client_status: str
    client_description: str = ""
    task_states: dict[str, TaskState] = {}
    deployment_status: AllocDeploymentStatus | None = None
    network_status: NetworkStatus | None = None
    modify_time: Nanoseconds = 0


class UpdateAllocs(_Message, frozen=True, kw_only=True):
    """Reports about allocations of one node."""

    node_id: NodeID
    secret_id: str
    updates: tuple[AllocUpdate, ...]


class AllocsUpdated(_Message, frozen=True, kw_only=True):
    """The reports are durable."""

    index: int


class RegisterServices(_Message, frozen=True, kw_only=True):
    """Make services of a node's allocations findable, or say what changed about them."""

    node_id: NodeID
    secret_id: str
    services: tuple[ServiceRegistration, ...]


class DeregisterServices(_Message, frozen=True, kw_only=True):
    """Make services of a node unfindable."""

    node_id: NodeID
    secret_id: str
    service_ids: tuple[str, ...]


class ServicesChanged(_Message, frozen=True, kw_only=True):
    """The change is durable."""

    index: int


class WatchServices(_Message, frozen=True, kw_only=True):
    """Ask for the instances of a service, or of all of a namespace without a `name`.

    The answer comes once it differs from `known`, which is id → `modify_index`, or after `wait`; None asks
    for an answer at once.
    """

    node_id: NodeID
    secret_id: str
    namespace: str
    name: str = ""
    wait: Nanoseconds = 0
    known: dict[str, int] | None = None


class ServicesFound(_Message, frozen=True, kw_only=True):
    """All instances asked for, changed or not."""

    index: int
    services: tuple[ServiceRegistration, ...] = ()


class IdentityWanted(_Message, frozen=True, kw_only=True):
    """An identity of a task or, with `service`, of a service of an allocation."""

    alloc_id: AllocID
    task: str
    identity: str
    service: str = ""


class SignIdentities(_Message, frozen=True, kw_only=True):
    """Ask for signed identities of a node's own allocations."""

    node_id: NodeID
    secret_id: str
    wanted: tuple[IdentityWanted, ...]


class SignedIdentity(_Message, frozen=True, kw_only=True):
    """A token; `expires` 0 means never."""

    token: str
    issued: Nanoseconds
    expires: Nanoseconds = 0


class IdentitiesSigned(_Message, frozen=True, kw_only=True):
    """One answer for each identity asked for, in order; None where the node may not have it."""

    signed: tuple[SignedIdentity | None, ...]


class SignNodeIdentity(_Message, frozen=True, kw_only=True):
    """Ask for the signed identity of the node itself."""

    node_id: NodeID
    secret_id: str


class WatchVariables(_Message, frozen=True, kw_only=True):
    """Ask, for a task of the node, for a variable, or with `is_prefix` for all whose paths begin so.

    What the task may not read is not there. The answer comes once it differs from `known`, which is path →
    `modify_index`, or after `wait`; None asks for an answer at once.
    """

    node_id: NodeID
    secret_id: str
    alloc_id: AllocID
    task: str
    namespace: str
    path: str
    is_prefix: bool = False
    wait: Nanoseconds = 0
    known: dict[str, int] | None = None


class ClientVariable(_Message, frozen=True, kw_only=True):
    """A variable in clear; lists have no items."""

    namespace: str
    path: str
    items: dict[str, str] = {}
    create_index: int = 0
    modify_index: int = 0
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0


class VariablesFound(_Message, frozen=True, kw_only=True):
    """All variables asked for, changed or not."""

    index: int
    variables: tuple[ClientVariable, ...] = ()
