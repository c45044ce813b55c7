"""A job: what a user asks the cluster to run."""

from __future__ import annotations

from typing import NamedTuple

from yurt.model.group import TaskGroup
from yurt.model.placement_rules import Affinity, Constraint, Spread
from yurt.model.policies import (
    Multiregion,
    ParameterizedJobConfig,
    PeriodicConfig,
    UpdateStrategy,
)
from yurt.model.wire import DEFAULT_NAMESPACE, JobID, Nanoseconds, Wire

SERVICE = "service"
BATCH = "batch"
SYSTEM = "system"
SYSBATCH = "sysbatch"
CORE = "_core"
JOB_TYPES = (SERVICE, BATCH, SYSTEM, SYSBATCH)

JOB_PENDING = "pending"
JOB_RUNNING = "running"
JOB_DEAD = "dead"

JOB_PRIORITY_MIN = 1
JOB_PRIORITY_DEFAULT = 50
JOB_PRIORITY_MAX = 100


class JobKey(NamedTuple):
    """What identifies a job."""

    namespace: str
    id: JobID


class JobUILink(Wire, frozen=True, kw_only=True):
    """A link shown with the job."""

    label: str = ""
    url: str = ""


class JobUIConfig(Wire, frozen=True, kw_only=True):
    """What the UI shows about the job."""

    description: str = ""
    links: tuple[JobUILink, ...] | None = None


class JobVersionTag(Wire, frozen=True, kw_only=True):
    """A name for one version of a job."""

    name: str = ""
    description: str = ""
    tagged_time: Nanoseconds = 0


class Job(Wire, frozen=True, kw_only=True):
    """What a user asks the cluster to run."""

    stop: bool = False
    region: str = "global"
    namespace: str = DEFAULT_NAMESPACE
    id: JobID = JobID("")
    parent_id: str = ""
    name: str = ""
    type: str = SERVICE
    priority: int = JOB_PRIORITY_DEFAULT
    all_at_once: bool = False
    datacenters: tuple[str, ...] | None = None
    node_pool: str = "default"
    constraints: tuple[Constraint, ...] | None = None
    affinities: tuple[Affinity, ...] | None = None
    spreads: tuple[Spread, ...] | None = None
    task_groups: tuple[TaskGroup, ...] = ()
    update: UpdateStrategy = UpdateStrategy()
    multiregion: Multiregion | None = None
    periodic: PeriodicConfig | None = None
    parameterized_job: ParameterizedJobConfig | None = None
    dispatched: bool = False
    dispatch_idempotency_token: str = ""
    payload: bytes | None = None
    meta: dict[str, str] | None = None
    consul_namespace: str = ""
    vault_namespace: str = ""
    nomad_token_id: str = ""
    status: str = ""
    status_description: str = ""
    stable: bool = False
    version: int = 0
    submit_time: Nanoseconds = 0
    create_index: int = 0
    modify_index: int = 0
    job_modify_index: int = 0
    ui: JobUIConfig | None = None
    version_tag: JobVersionTag | None = None

    @property
    def key(self) -> JobKey:
        """What identifies the job."""
        return JobKey(self.namespace, self.id)

    @property
    def is_periodic(self) -> bool:
        """Whether the job only launches children, at set times."""
        return self.periodic is not None

    @property
    def is_parameterized(self) -> bool:
        """Whether the job only launches children, when dispatched."""
        return self.parameterized_job is not None and not self.dispatched

    def group(self, name: str) -> TaskGroup | None:
        """Find a group by its name."""
        return next((group for group in self.task_groups if group.name == name), None)
