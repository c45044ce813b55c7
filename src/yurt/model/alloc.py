"""An allocation: one group of one job, placed on one node."""

from __future__ import annotations

import msgspec

from yurt.model.allocated import AllocatedResources
from yurt.model.job import SYSBATCH, SYSTEM, Job, JobKey
from yurt.model.resources import DNSConfig
from yurt.model.task_state import TaskState
from yurt.model.wire import AllocID, DeploymentID, EvalID, JobID, Nanoseconds, NodeID, Time, Wire, wire_names

DESIRED_RUN = "run"
DESIRED_STOP = "stop"
DESIRED_EVICT = "evict"

CLIENT_PENDING = "pending"
CLIENT_RUNNING = "running"
CLIENT_COMPLETE = "complete"
CLIENT_FAILED = "failed"
CLIENT_LOST = "lost"
CLIENT_UNKNOWN = "unknown"

CLIENT_STATUSES = (
    CLIENT_PENDING,
    CLIENT_RUNNING,
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_UNKNOWN,
)

CLIENT_TERMINAL = frozenset((CLIENT_COMPLETE, CLIENT_FAILED, CLIENT_LOST))


class DesiredTransition(Wire, frozen=True, kw_only=True):
    """What the servers want done with an allocation; None means unset."""

    migrate: bool | None = None
    reschedule: bool | None = None
    force_reschedule: bool | None = None
    no_shutdown_delay: bool | None = None
    migrate_disable_placement: bool | None = None


class AllocDeploymentStatus(Wire, frozen=True, kw_only=True):
    """Health of an allocation in its deployment."""

    healthy: bool | None = None
    timestamp: Time = None
    canary: bool = False
    modify_index: int = 0


class RescheduleEvent(Wire, frozen=True, kw_only=True):
    """One earlier placement that failed."""

    reschedule_time: Nanoseconds = 0
    prev_alloc_id: str = ""
    prev_node_id: str = ""
    delay: Nanoseconds = 0


class RescheduleTracker(Wire, frozen=True, kw_only=True):
    """Earlier placements of the same work."""

    events: tuple[RescheduleEvent, ...] | None = None
    last_reschedule: str = ""


class AllocStateChange(Wire, frozen=True, kw_only=True):
    """A change of client status made by the servers. `field` 0 is the client status."""

    field: int = 0
    value: str = ""
    time: Time = None


class NetworkStatus(Wire, frozen=True, kw_only=True, rename=wire_names(address_ipv6="AddressIPv6")):
    """The network namespace of a running allocation."""

    interface_name: str = ""
    address: str = ""
    address_ipv6: str = ""
    dns: DNSConfig | None = None


class Allocation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One group of one job, placed on one node, as State keeps it.

    Made small, since there are millions: `job` and `resources` are shared between allocations, and
    what is rarely read (`metrics`, `task_states`) stays encoded. The API's form of it is made by
    `yurt.api.v1.views`.
    """

    id: AllocID
    job: Job
    task_group: str
    name_index: int
    node_id: NodeID
    node_name: str
    eval_id: EvalID
    resources: AllocatedResources
    metrics: bytes = b""
    desired_status: str = DESIRED_RUN
    desired_description: str = ""
    desired_transition: DesiredTransition | None = None
    client_status: str = CLIENT_PENDING
    client_description: str = ""
    task_states: bytes = b""
    alloc_states: tuple[AllocStateChange, ...] = ()
    previous_allocation: str = ""
    next_allocation: str = ""
    followup_eval_id: str = ""
    deployment_id: DeploymentID = DeploymentID("")
    deployment_status: AllocDeploymentStatus | None = None
    reschedule_tracker: RescheduleTracker | None = None
    network_status: NetworkStatus | None = None
    preempted_allocations: tuple[str, ...] = ()
    preempted_by_allocation: str = ""
    create_index: int = 0
    modify_index: int = 0
    alloc_modify_index: int = 0
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0

    @property
    def namespace(self) -> str:
        """The namespace of its job."""
        return self.job.namespace

    @property
    def job_id(self) -> JobID:
        """The id of its job."""
        return self.job.id

    @property
    def job_key(self) -> JobKey:
        """What identifies its job."""
        return self.job.key

    @property
    def name(self) -> str:
        """`<job>.<group>[<index>]`."""
        return alloc_name(self.job, self.task_group, self.name_index)

    @property
    def is_server_terminal(self) -> bool:
        """Whether the servers want it gone."""
        return self.desired_status != DESIRED_RUN

    @property
    def is_client_terminal(self) -> bool:
        """Whether its tasks have ended for good."""
        return self.client_status in CLIENT_TERMINAL

    @property
    def is_terminal(self) -> bool:
        """Whether it no longer holds resources in the scheduler's eyes."""
        return self.desired_status != DESIRED_RUN or self.client_status in CLIENT_TERMINAL


def alloc_name(job: Job, task_group: str, index: int) -> str:
    """Name an allocation; system jobs use the job's name where others use its id, as in Nomad."""
    owner = job.name if job.type in (SYSTEM, SYSBATCH) else job.id
    return f"{owner}.{task_group}[{index}]"


_states_encoder = msgspec.msgpack.Encoder()
_states_decoder = msgspec.msgpack.Decoder(dict[str, TaskState])


def encode_task_states(states: dict[str, TaskState]) -> bytes:
    """Encode task states as an Allocation keeps them."""
    return _states_encoder.encode(states) if states else b""


def decode_task_states(encoded: bytes) -> dict[str, TaskState]:
    """Decode the task states of an Allocation."""
    return _states_decoder.decode(encoded) if encoded else {}
