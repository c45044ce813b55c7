"""The blocks inside a task."""

from __future__ import annotations

from typing import Any

from yurt.model.wire import Nanoseconds, Wire, wire_names


class LogConfig(Wire, frozen=True, kw_only=True, rename=wire_names(max_file_size_mb="MaxFileSizeMB")):
    """How task output is kept."""

    max_files: int = 10
    max_file_size_mb: int = 10
    disabled: bool = False


class RestartPolicy(Wire, frozen=True, kw_only=True):
    """How often a task is restarted on its node."""

    attempts: int = 0
    interval: Nanoseconds = 0
    delay: Nanoseconds = 0
    mode: str = "fail"
    render_templates: bool = False


class TaskLifecycle(Wire, frozen=True, kw_only=True):
    """When a task runs relative to the main tasks."""

    hook: str = ""
    sidecar: bool = False


class DispatchPayload(Wire, frozen=True, kw_only=True):
    """Where the payload of a dispatched job is written."""

    file: str = ""


class VolumeMount(Wire, frozen=True, kw_only=True, rename=wire_names(selinux_label="SELinuxLabel")):
    """A group volume inside a task."""

    volume: str = ""
    destination: str = ""
    read_only: bool = False
    propagation_mode: str = "private"
    selinux_label: str = ""


class ChangeScript(Wire, frozen=True, kw_only=True):
    """A command run when a template changes."""

    command: str = ""
    args: tuple[str, ...] | None = ()
    timeout: Nanoseconds = 0
    fail_on_error: bool = False
    run_on_first_render: bool = False


class TemplateWait(Wire, frozen=True, kw_only=True):
    """How long a template waits for its data to settle."""

    min: Nanoseconds | None = None
    max: Nanoseconds | None = None


class Template(Wire, frozen=True, kw_only=True):
    """A file rendered into the task directory."""

    source_path: str = ""
    dest_path: str = ""
    embedded_tmpl: str = ""
    change_mode: str = "restart"
    change_signal: str = ""
    change_script: ChangeScript | None = None
    once: bool = False
    splay: Nanoseconds = 0
    perms: str = "0644"
    uid: int | None = None
    gid: int | None = None
    left_delim: str = "{{"
    right_delim: str = "}}"
    envvars: bool = False
    vault_grace: Nanoseconds = 0
    wait: TemplateWait | None = None
    err_missing_key: bool = False


class TaskArtifact(Wire, frozen=True, kw_only=True):
    """A file or archive fetched before the task starts."""

    getter_source: str = ""
    getter_options: dict[str, str] | None = None
    getter_headers: dict[str, str] | None = None
    getter_mode: str = "any"
    getter_insecure: bool = False
    relative_dest: str = "local/"
    chown: bool = False


class Vault(Wire, frozen=True, kw_only=True):
    """Access of a task to Vault."""

    role: str = ""
    namespace: str = ""
    cluster: str = "default"
    env: bool = True
    disable_file: bool = False
    change_mode: str = "restart"
    change_signal: str = ""
    allow_token_expiration: bool = False


class Consul(Wire, frozen=True, kw_only=True):
    """Access of a group or task to Consul."""

    namespace: str = ""
    cluster: str = "default"
    partition: str = ""


class Secret(Wire, frozen=True, kw_only=True):
    """A secret fetched for a task."""

    name: str = ""
    provider: str = ""
    path: str = ""
    config: dict[str, Any] | None = None
    env: dict[str, str] | None = None


class Action(Wire, frozen=True, kw_only=True):
    """A named command that can be run inside a task."""

    name: str = ""
    command: str = ""
    args: tuple[str, ...] | None = None


class TaskScheduleCron(Wire, frozen=True, kw_only=True):
    """When a scheduled task starts and ends."""

    start: str = ""
    end: str = ""
    timezone: str = ""


class TaskSchedule(Wire, frozen=True, kw_only=True):
    """The hours in which a task runs."""

    cron: TaskScheduleCron | None = None


class TaskCSIPluginConfig(Wire, frozen=True, kw_only=True):
    """Marks a task as a CSI plugin."""

    id: str = ""
    type: str = ""
    mount_dir: str = "/csi"
    stage_publish_base_dir: str = "/local/csi"
    health_timeout: Nanoseconds = 0
