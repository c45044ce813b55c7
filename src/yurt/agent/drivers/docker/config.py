"""A docker task's `config { }`."""

from __future__ import annotations

import msgspec

from yurt.agent.drivers.config_schema import Seconds


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """Names are those of job files."""


class AuthConfig(_Block, frozen=True, kw_only=True):
    """Credentials for the image's registry."""

    username: str = ""
    password: str = ""
    email: str = ""
    server_address: str = ""


class LoggingConfig(_Block, frozen=True, kw_only=True):
    """What Docker does with output, besides the task's log files."""

    type: str = ""
    driver: str = ""
    config: dict[str, str] = {}


class BindOptions(_Block, frozen=True, kw_only=True):
    """Of a mount of a host path."""

    propagation: str = ""


class TmpfsOptions(_Block, frozen=True, kw_only=True):
    """Of a mount in memory."""

    size: int = 0
    mode: int = 0


class VolumeDriverConfig(_Block, frozen=True, kw_only=True):
    """What makes a volume."""

    name: str = ""
    options: dict[str, str] = {}


class VolumeOptions(_Block, frozen=True, kw_only=True):
    """Of a mount of a named volume."""

    no_copy: bool = False
    labels: dict[str, str] = {}
    driver_config: VolumeDriverConfig = VolumeDriverConfig()


class MountConfig(_Block, frozen=True, kw_only=True):
    """One mount."""

    type: str = "volume"
    target: str = ""
    source: str = ""
    readonly: bool = False
    bind_options: BindOptions = BindOptions()
    tmpfs_options: TmpfsOptions = TmpfsOptions()
    volume_options: VolumeOptions = VolumeOptions()


class DeviceConfig(_Block, frozen=True, kw_only=True):
    """A device of the host."""

    host_path: str
    container_path: str = ""
    cgroup_permissions: str = "rwm"


class HealthchecksConfig(_Block, frozen=True, kw_only=True):
    """About the image's health check."""

    disable: bool = False


class DockerConfig(_Block, frozen=True, kw_only=True):
    """All options of a task."""

    image: str
    command: str = ""
    args: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    auth: AuthConfig = AuthConfig()
    auth_soft_fail: bool = False
    force_pull: bool = False
    load: str = ""
    image_pull_timeout: Seconds = Seconds(0.0)
    ports: tuple[str, ...] = ()
    port_map: dict[str, int] = {}
    network_mode: str = ""
    network_aliases: tuple[str, ...] = ()
    ipv4_address: str = ""
    ipv6_address: str = ""
    mac_address: str = ""
    advertise_ipv6_address: bool = False
    dns_servers: tuple[str, ...] = ()
    dns_search_domains: tuple[str, ...] = ()
    dns_options: tuple[str, ...] = ()
    extra_hosts: tuple[str, ...] = ()
    hostname: str = ""
    volumes: tuple[str, ...] = ()
    volume_driver: str = ""
    mount: tuple[MountConfig, ...] = ()
    mounts: tuple[MountConfig, ...] = ()
    devices: tuple[DeviceConfig, ...] = ()
    labels: dict[str, str] = {}
    logging: LoggingConfig = LoggingConfig()
    privileged: bool = False
    cap_add: tuple[str, ...] = ()
    cap_drop: tuple[str, ...] = ()
    security_opt: tuple[str, ...] = ()
    sysctl: dict[str, str] = {}
    storage_opt: dict[str, str] = {}
    ulimit: dict[str, str] = {}
    readonly_rootfs: bool = False
    init: bool = False
    tty: bool = False
    interactive: bool = False
    pid_mode: str = ""
    ipc_mode: str = ""
    uts_mode: str = ""
    userns_mode: str = ""
    cgroupns: str = ""
    pids_limit: int = 0
    shm_size: int = 0
    cpu_hard_limit: bool = False
    cpu_cfs_period: int = 0
    memory_hard_limit: int = 0
    oom_score_adj: int = 0
    runtime: str = ""
    group_add: tuple[str, ...] = ()
    healthchecks: HealthchecksConfig = HealthchecksConfig()
    work_dir: str = ""
    container_exists_attempts: int = 0
    isolation: str = ""
    cpuset_cpus: str = ""
