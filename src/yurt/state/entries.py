"""The entries of the log: every way in which State can change."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from yurt.model.alloc import AllocDeploymentStatus, DesiredTransition, NetworkStatus
from yurt.model.autopilot import AutopilotConfiguration
from yurt.model.deployment import DeploymentStatusUpdate
from yurt.model.evaluation import Evaluation
from yurt.model.job import Job, JobVersionTag
from yurt.model.job_submission import JobSubmission
from yurt.model.job_versions import JOB_VERSIONS_KEPT
from yurt.model.namespace import Namespace
from yurt.model.node import SUBSYSTEM_CLUSTER, DrainStrategy, Node
from yurt.model.node_pool import NodePool
from yurt.model.plan import PlanChanges
from yurt.model.scaling_event import ScalingEvent
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import AllocID, DeploymentID, EvalID, Nanoseconds, NodeID
from yurt.state.acl_entries import AclEntry
from yurt.state.entry_base import EntryBase
from yurt.state.quota_entries import QuotaEntry
from yurt.state.secret_entries import SecretEntry
from yurt.state.simple_entries import SimpleEntry
from yurt.state.volume_entries import VolumeEntry


class RegisterNode(EntryBase, frozen=True, kw_only=True):
    """A node joins, or says what changed about it."""

    node: Node
    evals: tuple[Evaluation, ...] = ()


class SetNodeStatus(EntryBase, frozen=True, kw_only=True):
    """A node became ready, fell silent or went down."""

    node_id: NodeID
    status: str
    event: str = ""
    evals: tuple[Evaluation, ...] = ()


class SetNodeEligibility(EntryBase, frozen=True, kw_only=True):
    """New work is let onto a node, or kept off it."""

    node_id: NodeID
    eligibility: str
    event: str = ""
    subsystem: str = SUBSYSTEM_CLUSTER
    evals: tuple[Evaluation, ...] = ()


class SetNodeDrain(EntryBase, frozen=True, kw_only=True):
    """An operator empties a node, or stops doing so; `drain` None ends it."""

    node_id: NodeID
    drain: DrainStrategy | None
    mark_eligible: bool = False
    event: str = ""
    details: dict[str, str] | None = None
    meta: dict[str, str] | None = None
    accessor_id: str = ""
    is_complete: bool = False
    evals: tuple[Evaluation, ...] = ()


class DeregisterNodes(EntryBase, frozen=True, kw_only=True):
    """Nodes are forgotten."""

    node_ids: tuple[NodeID, ...]
    evals: tuple[Evaluation, ...] = ()


class GroupScaling(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What happened to the count of a group."""

    group: str
    event: ScalingEvent


class RegisterJob(EntryBase, frozen=True, kw_only=True):
    """A job is new, or its specification changed.

    With `enforce_index` set nothing happens unless the stored job's `job_modify_index` equals it;
    0 demands that there is no such job yet. `scaling` is what this change does to the count of a group.
    Of its versions, `versions_kept` stay.
    """

    job: Job
    evals: tuple[Evaluation, ...] = ()
    enforce_index: int | None = None
    submission: JobSubmission | None = None
    scaling: GroupScaling | None = None
    # Whether it becomes a new version even if nothing differs.
    is_new_version: bool = False
    versions_kept: int = JOB_VERSIONS_KEPT


class DeregisterJob(EntryBase, frozen=True, kw_only=True):
    """A job is stopped, or with `purge` forgotten with all that belongs to it."""

    namespace: str
    job_id: str
    purge: bool = False
    no_shutdown_delay: bool = False
    evals: tuple[Evaluation, ...] = ()
    versions_kept: int = JOB_VERSIONS_KEPT


class SetJobStability(EntryBase, frozen=True, kw_only=True):
    """A version of a job is known to be good, or no longer."""

    namespace: str
    job_id: str
    version: int
    stable: bool


class TagJobVersion(EntryBase, frozen=True, kw_only=True):
    """A version of a job gets a name, or with `tag` None loses it."""

    namespace: str
    job_id: str
    version: int
    tag: JobVersionTag | None = None


class RecordScaling(EntryBase, frozen=True, kw_only=True):
    """An autoscaler notes something about a group without changing its count."""

    namespace: str
    job_id: str
    group: str
    event: ScalingEvent


class ReconcileSummaries(EntryBase, frozen=True, kw_only=True):
    """The counters of all jobs are counted anew."""


class UpsertNamespaces(EntryBase, frozen=True, kw_only=True):
    """Namespaces are new or replaced."""

    namespaces: tuple[Namespace, ...]


class DeleteNamespaces(EntryBase, frozen=True, kw_only=True):
    """Namespaces are forgotten."""

    names: tuple[str, ...]


class UpsertNodePools(EntryBase, frozen=True, kw_only=True):
    """Node pools are new or replaced."""

    node_pools: tuple[NodePool, ...]


class DeleteNodePools(EntryBase, frozen=True, kw_only=True):
    """Node pools are forgotten."""

    names: tuple[str, ...]


class UpsertServices(EntryBase, frozen=True, kw_only=True):
    """Services of running allocations are new or changed."""

    services: tuple[ServiceRegistration, ...]


class DeleteServices(EntryBase, frozen=True, kw_only=True):
    """Services can no longer be found."""

    service_ids: tuple[str, ...]


class UpsertEvals(EntryBase, frozen=True, kw_only=True):
    """Evaluations are new or moved on."""

    evals: tuple[Evaluation, ...]


class DeleteEvals(EntryBase, frozen=True, kw_only=True):
    """Evaluations are collected, with the allocations that only they kept."""

    eval_ids: tuple[EvalID, ...] = ()
    alloc_ids: tuple[AllocID, ...] = ()


class CommitPlan(EntryBase, frozen=True, kw_only=True):
    """What the applier accepted of a plan. `evals` are those that preemption calls for."""

    eval_id: EvalID
    changes: PlanChanges
    evals: tuple[Evaluation, ...] = ()


class AllocReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a node said about one allocation; `task_states` is encoded as an Allocation keeps it."""

    id: AllocID
    client_status: str
    client_description: str = ""
    task_states: bytes = b""
    deployment_status: AllocDeploymentStatus | None = None
    network_status: NetworkStatus | None = None


class ReportAllocs(EntryBase, frozen=True, kw_only=True):
    """Nodes reported on their allocations."""

    reports: tuple[AllocReport, ...]
    evals: tuple[Evaluation, ...] = ()


class SetDesiredTransitions(EntryBase, frozen=True, kw_only=True):
    """Allocations are to migrate, to be rescheduled, or to stop without delay."""

    transitions: dict[AllocID, DesiredTransition]
    evals: tuple[Evaluation, ...] = ()


class SetDeploymentStatus(EntryBase, frozen=True, kw_only=True):
    """A deployment is paused, goes on, or ends.

    With `progress_at` the time that its groups have to get on starts over then.
    `rollback` is an earlier version of the job that becomes the current one again.
    """

    update: DeploymentStatusUpdate
    progress_at: Nanoseconds | None = None
    rollback: Job | None = None
    evals: tuple[Evaluation, ...] = ()


class PromoteDeployment(EntryBase, frozen=True, kw_only=True):
    """The canaries of some groups become ordinary instances."""

    deployment_id: DeploymentID
    groups: tuple[str, ...]
    description: str
    evals: tuple[Evaluation, ...] = ()


class SetAllocHealth(EntryBase, frozen=True, kw_only=True):
    """An operator says which instances of a deployment are healthy, and which are not."""

    deployment_id: DeploymentID
    healthy: tuple[AllocID, ...] = ()
    unhealthy: tuple[AllocID, ...] = ()
    update: DeploymentStatusUpdate | None = None
    rollback: Job | None = None
    evals: tuple[Evaluation, ...] = ()


class DeleteDeployments(EntryBase, frozen=True, kw_only=True):
    """Deployments are collected."""

    deployment_ids: tuple[DeploymentID, ...]


class RecordPeriodicLaunch(EntryBase, frozen=True, kw_only=True):
    """A periodic job launched a child for this time."""

    namespace: str
    job_id: str
    launch: Nanoseconds


class SetSchedulerConfiguration(EntryBase, frozen=True, kw_only=True):
    """An operator changes how the cluster schedules.

    With `check_index` set nothing happens unless the stored configuration is of that index.
    """

    configuration: SchedulerConfiguration
    check_index: int | None = None


class SetAutopilotConfiguration(EntryBase, frozen=True, kw_only=True):
    """An operator changes how the servers look after each other; `check_index` as for schedulers."""

    configuration: AutopilotConfiguration
    check_index: int | None = None


DeploymentEntry: TypeAlias = SetDeploymentStatus | PromoteDeployment | SetAllocHealth | DeleteDeployments
"""What becomes of deployments, besides what plans do."""

OperatorEntry: TypeAlias = (
    SetSchedulerConfiguration
    | SetAutopilotConfiguration
    | SetJobStability
    | TagJobVersion
    | RecordScaling
    | ReconcileSummaries
    | UpsertNamespaces
    | DeleteNamespaces
    | UpsertNodePools
    | DeleteNodePools
    | UpsertServices
    | DeleteServices
    | AclEntry
    | QuotaEntry
)
"""What people and their tools ask for, besides running jobs."""

Entry: TypeAlias = (
    RegisterNode
    | SetNodeStatus
    | SetNodeEligibility
    | SetNodeDrain
    | DeregisterNodes
    | RegisterJob
    | DeregisterJob
    | UpsertEvals
    | DeleteEvals
    | CommitPlan
    | ReportAllocs
    | SetDesiredTransitions
    | RecordPeriodicLaunch
    | DeploymentEntry
    | SimpleEntry
    | OperatorEntry
    | SecretEntry
    | VolumeEntry
)

# A log written by a newer Yurt may hold entries this one does not know; the log's format version says so.
LOG_FORMAT = 1

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Entry] = msgspec.msgpack.Decoder(Entry)


def encode_entry(entry: Entry) -> bytes:
    """Encode an entry for the log."""
    return _encoder.encode(entry)


def decode_entry(encoded: bytes) -> Entry:
    """Decode an entry of the log."""
    return _decoder.decode(encoded)
