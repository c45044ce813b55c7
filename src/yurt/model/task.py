"""A task: one process or container of a group."""

from __future__ import annotations

from typing import Any

from yurt.model.identity import WorkloadIdentity
from yurt.model.placement_rules import Affinity, Constraint
from yurt.model.policies import ScalingPolicy
from yurt.model.resources import Resources
from yurt.model.service import Service
from yurt.model.task_parts import (
    Action,
    Consul,
    DispatchPayload,
    LogConfig,
    RestartPolicy,
    Secret,
    TaskArtifact,
    TaskCSIPluginConfig,
    TaskLifecycle,
    TaskSchedule,
    Template,
    Vault,
    VolumeMount,
)
from yurt.model.wire import Nanoseconds, Wire


class Task(Wire, frozen=True, kw_only=True):
    """One process or container of a group."""

    name: str = ""
    driver: str = ""
    user: str = ""
    config: dict[str, Any] | None = None
    env: dict[str, str] | None = None
    services: tuple[Service, ...] | None = None
    vault: Vault | None = None
    secrets: tuple[Secret, ...] | None = None
    consul: Consul | None = None
    templates: tuple[Template, ...] | None = None
    constraints: tuple[Constraint, ...] | None = None
    affinities: tuple[Affinity, ...] | None = None
    resources: Resources = Resources()
    restart_policy: RestartPolicy = RestartPolicy()
    dispatch_payload: DispatchPayload | None = None
    lifecycle: TaskLifecycle | None = None
    meta: dict[str, str] | None = None
    kill_timeout: Nanoseconds = 0
    log_config: LogConfig = LogConfig()
    artifacts: tuple[TaskArtifact, ...] | None = None
    leader: bool = False
    shutdown_delay: Nanoseconds = 0
    volume_mounts: tuple[VolumeMount, ...] | None = None
    scaling_policies: tuple[ScalingPolicy, ...] | None = None
    kill_signal: str = ""
    kind: str = ""
    csi_plugin_config: TaskCSIPluginConfig | None = None
    identity: WorkloadIdentity | None = None
    identities: tuple[WorkloadIdentity, ...] | None = None
    actions: tuple[Action, ...] | None = None
    schedule: TaskSchedule | None = None
