"""Node agents: `client`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import msgspec

from yurt.agent.settings import LINK_LOCAL
from yurt.config.blocks.base import Block, Count, Percent, Port, Seconds, unserved
from yurt.config.blocks.client_tasks import ArtifactConfig, TemplateConfig
from yurt.config.blocks.joining import JOIN_ALIASES, JoinConfig

DEFAULT_CNI_PATH = "/opt/cni/bin:/usr/libexec/cni"


class ReservedConfig(Block, frozen=True, kw_only=True):
    """`reserved`: what tasks never get."""

    cpu_mhz: Count = msgspec.field(default=0, name="cpu")
    memory_mb: Count = msgspec.field(default=0, name="memory")
    disk_mb: Count = msgspec.field(default=0, name="disk")
    cores: str = ""
    reserved_ports: str = ""


class HostVolumeConfig(Block, frozen=True, kw_only=True):
    """`host_volume "name"`: a directory that jobs may mount."""

    path: str
    read_only: bool = False


class HostNetworkConfig(Block, frozen=True, kw_only=True):
    """`host_network "name"`: addresses that ports may be bound to, by CIDR or by interface."""

    cidr: str = ""
    interface: str = ""
    reserved_ports: str = ""


class CountableConfig(Block, frozen=True, kw_only=True):
    """`countable "name"`: a resource of this node that tasks use up in whole units, such as licences."""

    count: Count


class DrainOnShutdown(Block, frozen=True, kw_only=True):
    """`drain_on_shutdown`: move work away before the agent ends."""

    deadline_s: Seconds = 3600.0
    ignore_system_jobs: bool = False
    force: bool = False


class UsersConfig(Block, frozen=True, kw_only=True):
    """`users`: the user ids that tasks without a user of their own are given."""

    dynamic_user_min: Count = 80_000
    dynamic_user_max: Count = 89_999


class FingerprintConfig(Block, frozen=True, kw_only=True):
    """`fingerprint "env_x"`: how hard to try to reach a cloud's metadata."""

    retry_interval_s: Seconds = 2.0
    retry_attempts: Annotated[int, msgspec.Meta(ge=-1)] = 0
    exit_on_failure: bool = False


class ClientConfig(Block, frozen=True, kw_only=True):
    """`client`: an empty directory means its place below `data_dir`, 0 of a total means: as found."""

    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved(
        "alloc_mounts_dir",
        "cpu_disable_dmidecode",
        "drain_on_shutdown",
        "fingerprint",
        "server_join",
        "users",
        "disk_free_mb",
        "client_min_port",
        "client_max_port",
        "no_host_uuid",
    )
    ALIASES: ClassVar[Mapping[str, str]] = JOIN_ALIASES

    enabled: bool = False
    state_dir: str = ""
    alloc_dir: str = ""
    alloc_mounts_dir: str = ""
    host_volumes_dir: str = ""
    host_volume_plugin_dir: str = ""
    common_plugin_dir: str = ""

    servers: tuple[str, ...] = ()
    server_join: JoinConfig = msgspec.field(default_factory=JoinConfig)
    intro_token: str = ""
    node_class: str = ""
    node_pool: str = "default"
    meta: dict[str, str] = {}
    options: dict[str, str] = {}
    chroot_env: dict[str, str] = {}

    network_interface: str = ""
    network_speed_mbits: Count = msgspec.field(default=0, name="network_speed")
    preferred_address_family: Literal["", "ipv4", "ipv6"] = ""
    host_networks: dict[str, HostNetworkConfig] = msgspec.field(default_factory=dict, name="host_network")
    bind_wildcard_default_host_network: bool = True
    cni_path: str = DEFAULT_CNI_PATH
    cni_config_dir: str = "/opt/cni/config"
    bridge_network_name: str = "nomad"
    bridge_network_subnet: str = "172.26.64.0/20"
    bridge_network_subnet_ipv6: str = ""
    bridge_network_hairpin_mode: bool = False
    min_dynamic_port: Port = 20_000
    max_dynamic_port: Port = 32_000

    cpu_total_compute_mhz: Count = msgspec.field(default=0, name="cpu_total_compute")
    memory_total_mb: Count = 0
    disk_total_mb: Count = 0
    reservable_cores: str = ""
    reserved: ReservedConfig = msgspec.field(default_factory=ReservedConfig)
    cgroup_parent: str = ""
    countables: dict[str, CountableConfig] = msgspec.field(default_factory=dict, name="countable")
    node_max_allocs: Count = 0

    max_kill_timeout_s: Seconds = 30.0
    gc_interval_s: Seconds = 60.0
    gc_parallel_destroys: Annotated[int, msgspec.Meta(ge=1)] = 2
    gc_disk_usage_threshold: Percent = 80.0
    gc_inode_usage_threshold: Percent = 70.0
    gc_max_allocs: Count = 50
    gc_volumes_on_node_gc: bool = False

    disable_remote_exec: bool = False
    denied_networks: tuple[str, ...] = LINK_LOCAL
    host_volumes: dict[str, HostVolumeConfig] = msgspec.field(default_factory=dict, name="host_volume")
    nomad_service_discovery: bool = True
    default_ineligible: bool = False
    drain_on_shutdown: DrainOnShutdown | None = None
    users: UsersConfig = msgspec.field(default_factory=UsersConfig)
    fingerprints: dict[str, FingerprintConfig] = msgspec.field(default_factory=dict, name="fingerprint")
    template: TemplateConfig = msgspec.field(default_factory=TemplateConfig)
    artifact: ArtifactConfig = msgspec.field(default_factory=ArtifactConfig)
