"""Forms of the blocks inside a task."""

from __future__ import annotations

from typing import Any

from yurt.model.forms.policies import AffinityForm
from yurt.model.go_types import Duration, Uint64
from yurt.model.placement_rules import Constraint
from yurt.model.wire import Wire, wire_names


class PortForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.resources.Port`."""

    label: str = ""
    value: int = 0
    to: int = 0
    host_network: str = ""
    ignore_collision: bool = False


class DNSConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.resources.DNSConfig`."""

    servers: list[str] | None = None
    searches: list[str] | None = None
    options: list[str] | None = None


class CNIConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.resources.CNIConfig`."""

    args: dict[str, str] | None = None


class NetworkResourceForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.resources.NetworkResource`."""

    mode: str = ""
    device: str = ""
    cidr: str = ""
    ip: str = ""
    dns: DNSConfigForm | None = None
    reserved_ports: list[PortForm] | None = None
    dynamic_ports: list[PortForm] | None = None
    hostname: str = ""
    mbits: int | None = None
    cni: CNIConfigForm | None = None


class RequestedDeviceForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.resources.RequestedDevice`."""

    name: str = ""
    count: Uint64 | None = None
    constraints: list[Constraint] | None = None
    affinities: list[AffinityForm] | None = None


class NUMAForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.resources.NUMA`."""

    affinity: str = ""
    devices: list[str] | None = None


class ResourcesForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.resources.Resources`."""

    cpu: int | None = None
    cores: int | None = None
    memory_mb: int | None = None
    memory_max_mb: int | None = None
    disk_mb: int | None = None
    networks: list[NetworkResourceForm] | None = None
    devices: list[RequestedDeviceForm] | None = None
    numa: NUMAForm | None = None
    secrets_mb: int | None = None
    iops: int | None = None


class LogConfigForm(Wire, frozen=True, kw_only=True, rename=wire_names(max_file_size_mb="MaxFileSizeMB")):
    """See `yurt.model.task_parts.LogConfig`. `Enabled` is read and dropped."""

    max_files: int | None = None
    max_file_size_mb: int | None = None
    enabled: bool | None = None
    disabled: bool | None = None


class VolumeMountForm(Wire, frozen=True, kw_only=True, rename=wire_names(selinux_label="SELinuxLabel")):
    """See `yurt.model.task_parts.VolumeMount`."""

    volume: str | None = None
    destination: str | None = None
    read_only: bool | None = None
    propagation_mode: str | None = None
    selinux_label: str | None = None


class ChangeScriptForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.ChangeScript`."""

    command: str | None = None
    args: list[str] | None = None
    timeout: Duration | None = None
    fail_on_error: bool | None = None
    run_on_first_render: bool | None = None


class WaitConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.TemplateWait`."""

    min: Duration | None = None
    max: Duration | None = None


class TemplateForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.Template`."""

    source_path: str | None = None
    dest_path: str | None = None
    embedded_tmpl: str | None = None
    change_mode: str | None = None
    change_script: ChangeScriptForm | None = None
    change_signal: str | None = None
    once: bool | None = None
    splay: Duration | None = None
    perms: str | None = None
    uid: int | None = None
    gid: int | None = None
    left_delim: str | None = None
    right_delim: str | None = None
    envvars: bool | None = None
    vault_grace: Duration | None = None
    wait: WaitConfigForm | None = None
    err_missing_key: bool | None = None


class TaskArtifactForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.TaskArtifact`."""

    getter_source: str | None = None
    getter_options: dict[str, str] | None = None
    getter_headers: dict[str, str] | None = None
    getter_mode: str | None = None
    getter_insecure: bool | None = None
    relative_dest: str | None = None
    chown: bool = False


class VaultForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.Vault`. `Policies` is read and dropped."""

    policies: list[str] | None = None
    role: str = ""
    namespace: str | None = None
    cluster: str = ""
    env: bool | None = None
    disable_file: bool | None = None
    change_mode: str | None = None
    change_signal: str | None = None
    allow_token_expiration: bool | None = None


class ConsulForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.Consul`."""

    namespace: str = ""
    cluster: str = ""
    partition: str = ""


class SecretForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.Secret`."""

    name: str = ""
    provider: str = ""
    path: str = ""
    config: dict[str, Any] | None = None
    env: dict[str, str] | None = None


class TaskCSIPluginConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.TaskCSIPluginConfig`."""

    id: str = ""
    type: str = ""
    mount_dir: str = ""
    stage_publish_base_dir: str = ""
    health_timeout: Duration = 0


class WorkloadIdentityForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.identity.WorkloadIdentity`."""

    name: str = ""
    audience: list[str] | None = None
    change_mode: str = ""
    change_signal: str = ""
    env: bool = False
    file: bool = False
    filepath: str = ""
    service_name: str = ""
    ttl: Duration = 0
    extra_claims: list[str] | None = None
