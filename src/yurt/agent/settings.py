"""What a node agent is told by its configuration."""

from __future__ import annotations

from typing import Any

import msgspec

from yurt.model.node import MAX_DYNAMIC_PORT, MIN_DYNAMIC_PORT, HostNetwork, HostVolume
from yurt.model.times import MINUTE_NS, SECOND_NS
from yurt.model.wire import DEFAULT_NODE_POOL, Nanoseconds

# Names of the agent's own variables that tasks never see, unless `env.denylist` says otherwise.
DEFAULT_ENV_DENYLIST = (
    "CONSUL_TOKEN",
    "CONSUL_HTTP_TOKEN",
    "CONSUL_HTTP_TOKEN_FILE",
    "NOMAD_TOKEN",
    "YURT_TOKEN",
    "VAULT_TOKEN",
    "CONSUL_LICENSE",
    "NOMAD_LICENSE",
    "VAULT_LICENSE",
    "CONSUL_LICENSE_PATH",
    "NOMAD_LICENSE_PATH",
    "VAULT_LICENSE_PATH",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_METADATA_URL",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_OAUTH_ACCESS_TOKEN",
)


class Reserved(msgspec.Struct, frozen=True, kw_only=True):
    """What the node keeps back from tasks."""

    cpu_mhz: int = 0
    memory_mb: int = 0
    disk_mb: int = 0
    # A set of core ids such as "0,2-3".
    cores: str = ""
    # A set of port numbers such as "22,8500-8600".
    ports: str = ""


class GcSettings(msgspec.Struct, frozen=True, kw_only=True):
    """When the directories of ended allocations are deleted."""

    interval: Nanoseconds = MINUTE_NS
    disk_usage_percent_max: float = 80.0
    inode_usage_percent_max: float = 70.0
    allocs_max: int = 50
    parallel_destroys: int = 2


# Where clouds hand out a machine's own credentials to whoever asks from it.
LINK_LOCAL = ("169.254.0.0/16", "fe80::/10")


class TemplateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How files are rendered for tasks.

    A template is rendered again once its data was quiet for `wait_min`, at the latest after `wait_max`; the
    bounds cut what jobs ask for themselves, None is no bound.
    """

    function_denylist: tuple[str, ...] = ("executeTemplate", "plugin", "writeToFile")
    disable_file_sandbox: bool = False
    wait_min: Nanoseconds = 5 * SECOND_NS
    wait_max: Nanoseconds = 4 * MINUTE_NS
    wait_bound_min: Nanoseconds | None = None
    wait_bound_max: Nanoseconds | None = None


class ArtifactSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on what is fetched for tasks; 0 is no limit.

    Below `file_roots` files of this machine may be fetched; `inspects` looks for links that lead out.
    """

    http_read_timeout_s: float = 1800.0
    http_max_bytes: int = 100 * 10**9
    git_timeout_s: float = 1800.0
    unpacked_files_max: int = 4096
    unpacked_bytes_max: int = 100 * 10**9
    inspects: bool = True
    file_roots: tuple[str, ...] = ()


class ConsulSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the Consul agent is, and how to talk to it; an empty `address` is none."""

    address: str = ""
    token: str = ""
    namespace: str = ""
    timeout_s: float = 5.0
    uses_tls: bool = False
    verifies: bool = True
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a node agent; the config loader fills them in, the agent never reads files for them.

    `state_dir` empty keeps nothing across restarts. `dev` also stops every task when the agent ends.
    """

    state_dir: str
    alloc_dir: str
    host_volumes_dir: str = ""
    host_volume_plugin_dir: str = ""
    common_plugin_dir: str = ""
    dev: bool = False

    node_name: str = ""
    # Shows the servers, at the first registration, that somebody expects this node.
    intro_token: str = ""
    node_class: str = ""
    node_pool: str = DEFAULT_NODE_POOL
    datacenter: str = "dc1"
    region: str = "global"
    meta: dict[str, str] = {}
    options: dict[str, str] = {}
    # Whom the agent does not talk to on behalf of jobs.
    denied_networks: tuple[str, ...] = LINK_LOCAL
    # "host:port" of this agent's HTTP API, as others reach it.
    http_address: str = ""
    tls_enabled: bool = False
    default_ineligible: bool = False
    node_max_allocs: int = 0
    # Resource name → how many whole units of it the node has.
    countables: dict[str, int] = {}

    network_interface: str = ""
    network_speed_mbits: int = 0
    preferred_address_family: str = ""
    host_networks: dict[str, HostNetwork] = {}
    host_volumes: dict[str, HostVolume] = {}
    gc_volumes_on_node_gc: bool = False
    min_dynamic_port: int = MIN_DYNAMIC_PORT
    max_dynamic_port: int = MAX_DYNAMIC_PORT
    # Where Nomad looks, then where distributions put the plugins.
    cni_path: str = "/opt/cni/bin:/usr/libexec/cni:/usr/lib/cni"
    cni_config_dir: str = "/opt/cni/config"
    bridge_network_name: str = "nomad"
    bridge_network_subnet: str = "172.26.64.0/20"
    bridge_network_subnet_ipv6: str = ""
    bridge_network_hairpin_mode: bool = False
    bind_wildcard_default_host_network: bool = True

    # 0 means: as found.
    cpu_total_compute_mhz: int = 0
    memory_total_mb: int = 0
    disk_total_mb: int = 0
    reservable_cores: str = ""
    reserved: Reserved = Reserved()
    # Empty is the usual one of the cgroup version.
    cgroup_parent: str = ""
    # Host path → path in the root of isolated tasks; empty is the usual set.
    chroot_env: dict[str, str] = {}

    disable_remote_exec: bool = False
    max_kill_timeout: Nanoseconds = 30 * SECOND_NS
    gc: GcSettings = GcSettings()
    env_denylist: tuple[str, ...] = DEFAULT_ENV_DENYLIST
    service_discovery: bool = True
    template: TemplateSettings = TemplateSettings()
    artifact: ArtifactSettings = ArtifactSettings()
    # Without an address the node has no Consul agent.
    consul: ConsulSettings = ConsulSettings()
    # Driver name → the `config` of its plugin block.
    driver_configs: dict[str, dict[str, Any]] = {}
