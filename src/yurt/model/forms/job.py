"""Forms of jobs, their groups and their tasks."""

from __future__ import annotations

from typing import Any

import msgspec

from yurt.model.forms.policies import (
    AffinityForm,
    DisconnectStrategyForm,
    EphemeralDiskForm,
    MigrateStrategyForm,
    MultiregionForm,
    ParameterizedJobConfigForm,
    PeriodicConfigForm,
    ReschedulePolicyForm,
    RestartPolicyForm,
    ScalingPolicyForm,
    SpreadForm,
    UpdateStrategyForm,
)
from yurt.model.forms.service import ServiceForm
from yurt.model.forms.task_parts import (
    ConsulForm,
    LogConfigForm,
    NetworkResourceForm,
    ResourcesForm,
    SecretForm,
    TaskArtifactForm,
    TaskCSIPluginConfigForm,
    TemplateForm,
    VaultForm,
    VolumeMountForm,
    WorkloadIdentityForm,
)
from yurt.model.go_types import Duration, Int64, Uint64
from yurt.model.job import JobVersionTag
from yurt.model.placement_rules import Constraint
from yurt.model.task_parts import Action, DispatchPayload, TaskLifecycle, TaskSchedule
from yurt.model.volume import VolumeRequest
from yurt.model.wire import Wire, wire_names


class TaskForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task.Task`."""

    name: str = ""
    driver: str = ""
    user: str = ""
    lifecycle: TaskLifecycle | None = None
    config: dict[str, Any] | None = None
    constraints: list[Constraint] | None = None
    affinities: list[AffinityForm] | None = None
    env: dict[str, str] | None = None
    services: list[ServiceForm] | None = None
    resources: ResourcesForm | None = None
    restart_policy: RestartPolicyForm | None = None
    meta: dict[str, str] | None = None
    kill_timeout: Duration | None = None
    log_config: LogConfigForm | None = None
    artifacts: list[TaskArtifactForm] | None = None
    vault: VaultForm | None = None
    consul: ConsulForm | None = None
    templates: list[TemplateForm] | None = None
    secrets: list[SecretForm] | None = None
    dispatch_payload: DispatchPayload | None = None
    volume_mounts: list[VolumeMountForm] | None = None
    # The one member that is left out when unset, not shown as null.
    csi_plugin_config: TaskCSIPluginConfigForm | msgspec.UnsetType | None = msgspec.UNSET
    leader: bool = False
    shutdown_delay: Duration = 0
    kill_signal: str = ""
    kind: str = ""
    scaling_policies: list[ScalingPolicyForm] | None = None
    identity: WorkloadIdentityForm | None = None
    identities: list[WorkloadIdentityForm] | None = None
    actions: list[Action] | None = None
    schedule: TaskSchedule | None = None


class TaskGroupForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.group.TaskGroup`."""

    name: str | None = None
    count: int | None = None
    constraints: list[Constraint] | None = None
    affinities: list[AffinityForm] | None = None
    tasks: list[TaskForm] | None = None
    spreads: list[SpreadForm] | None = None
    volumes: dict[str, VolumeRequest] | None = None
    restart_policy: RestartPolicyForm | None = None
    disconnect: DisconnectStrategyForm | None = None
    reschedule_policy: ReschedulePolicyForm | None = None
    ephemeral_disk: EphemeralDiskForm | None = None
    update: UpdateStrategyForm | None = None
    migrate: MigrateStrategyForm | None = None
    networks: list[NetworkResourceForm] | None = None
    meta: dict[str, str] | None = None
    services: list[ServiceForm] | None = None
    shutdown_delay: Duration | None = None
    stop_after_client_disconnect: Duration | None = None
    max_client_disconnect: Duration | None = None
    scaling: ScalingPolicyForm | None = None
    consul: ConsulForm | None = None
    prevent_reschedule_on_lost: bool | None = None
    max_run_duration: Duration | None = None


class JobUILinkForm(Wire, frozen=True, kw_only=True, rename=wire_names(url="URL")):
    """See `yurt.model.job.JobUILink`."""

    label: str = ""
    url: str = ""


class JobUIConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.job.JobUIConfig`."""

    description: str = ""
    links: list[JobUILinkForm] | None = None


class JobForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.job.Job`; `Reschedule` and `Migrate` are the base of each group's own."""

    region: str | None = None
    namespace: str | None = None
    id: str | None = None
    name: str | None = None
    type: str | None = None
    priority: int | None = None
    all_at_once: bool | None = None
    datacenters: list[str] | None = None
    node_pool: str | None = None
    constraints: list[Constraint] | None = None
    affinities: list[AffinityForm] | None = None
    task_groups: list[TaskGroupForm] | None = None
    update: UpdateStrategyForm | None = None
    multiregion: MultiregionForm | None = None
    spreads: list[SpreadForm] | None = None
    periodic: PeriodicConfigForm | None = None
    parameterized_job: ParameterizedJobConfigForm | None = None
    reschedule: ReschedulePolicyForm | None = None
    migrate: MigrateStrategyForm | None = None
    meta: dict[str, str] | None = None
    ui: JobUIConfigForm | None = None
    stop: bool | None = None
    parent_id: str | None = None
    dispatched: bool = False
    dispatch_idempotency_token: str | None = None
    payload: bytes | None = None
    consul_namespace: str | None = None
    vault_namespace: str | None = None
    nomad_token_id: str | None = None
    status: str | None = None
    status_description: str | None = None
    stable: bool | None = None
    version: Uint64 | None = None
    submit_time: Int64 | None = None
    create_index: Uint64 | None = None
    modify_index: Uint64 | None = None
    job_modify_index: Uint64 | None = None
    version_tag: JobVersionTag | None = None
