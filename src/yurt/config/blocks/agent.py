"""The top level of the configuration."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, ClassVar

import msgspec

from yurt.config.blocks.access import AclConfig, TlsConfig
from yurt.config.blocks.base import Block, Count, Seconds, unserved
from yurt.config.blocks.client import ClientConfig
from yurt.config.blocks.consul import ConsulConfig
from yurt.config.blocks.hardening import AuditConfig, LimitsConfig
from yurt.config.blocks.network import AddressesConfig, AdvertiseConfig, PortsConfig
from yurt.config.blocks.own import EtcdConfig, SimpleApiConfig
from yurt.config.blocks.server import ServerConfig
from yurt.config.blocks.telemetry import TelemetryConfig
from yurt.config.blocks.ui import UiConfig
from yurt.config.nomad_json.agent import agent_json
from yurt.config.problems import Notice

LOG_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF")


class PluginConfig(Block, frozen=True, kw_only=True):
    """`plugin "name"`: `config` is read by the driver of that name."""

    # Drivers run inside the agent, so there is no plugin process to give arguments to.
    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved("args")

    args: tuple[str, ...] = ()
    config: dict[str, Any] = {}


class FileConfig(Block, frozen=True, kw_only=True):
    """All that files may say."""

    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved(
        "plugin_dir",
        "enable_syslog",
        "syslog_facility",
        "vault",
        "keyring",
        "sentinel",
        autopilot=(
            "cleanup_dead_servers",
            "last_contact_threshold",
            "max_trailing_logs",
            "server_stabilization_time",
            "min_quorum",
            "enable_redundancy_zones",
            "disable_upgrade_migration",
            "enable_custom_upgrades",
        ),
        rpc=(
            "accept_backlog",
            "keep_alive_interval",
            "connection_write_timeout",
            "stream_open_timeout",
            "stream_close_timeout",
            "dial_timeout",
        ),
        eventlog=("enabled", "level"),
        reporting=(
            "address",
            "export_interval",
            "snapshot_retention_time",
            "disable_product_usage_reporting",
            "license",
        ),
    )

    region: str = "global"
    datacenter: str = "dc1"
    name: str = ""
    data_dir: str = ""
    log_level: str = "INFO"
    log_json: bool = False
    log_include_location: bool = False
    log_file: str = ""
    log_rotate_duration_s: Seconds = 24 * 3600.0
    log_rotate_bytes: Count = 0
    log_rotate_max_files: int = 0
    bind_addr: str = ""
    ports: PortsConfig = msgspec.field(default_factory=PortsConfig)
    addresses: AddressesConfig = msgspec.field(default_factory=AddressesConfig)
    advertise: AdvertiseConfig = msgspec.field(default_factory=AdvertiseConfig)
    leave_on_interrupt: bool = False
    leave_on_terminate: bool = False
    enable_debug: bool = False
    # Nothing is ever reported to anybody, so these two hold whatever they say.
    disable_update_check: bool = False
    disable_anonymous_signature: bool = False
    http_api_response_headers: dict[str, str] = {}
    server: ServerConfig = msgspec.field(default_factory=ServerConfig)
    client: ClientConfig = msgspec.field(default_factory=ClientConfig)
    acl: AclConfig = msgspec.field(default_factory=AclConfig)
    tls: TlsConfig = msgspec.field(default_factory=TlsConfig)
    limits: LimitsConfig = msgspec.field(default_factory=LimitsConfig)
    audit: AuditConfig = msgspec.field(default_factory=AuditConfig)
    telemetry: TelemetryConfig = msgspec.field(default_factory=TelemetryConfig)
    ui: UiConfig = msgspec.field(default_factory=UiConfig)
    consul: ConsulConfig = msgspec.field(default_factory=ConsulConfig)
    plugins: dict[str, PluginConfig] = msgspec.field(default_factory=dict, name="plugin")
    etcd: EtcdConfig | None = None
    simple_api: SimpleApiConfig = msgspec.field(default_factory=SimpleApiConfig)


class Directories(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent keeps things."""

    server: str
    state: str
    alloc: str
    host_volumes: str
    host_volume_plugins: str
    common_plugins: str


class AgentConfig(FileConfig, frozen=True, kw_only=True):
    """The configuration of one agent: checked, addresses resolved, `name` filled in.

    `data_dir` may be empty in dev mode and in a standalone client: the agent makes a temporary one and
    replaces it. Then `keeps_nothing`: what the agent started ends with it.
    `notices` are for the log, once it is set up.
    """

    dev: bool = False
    keeps_nothing: bool = False
    config_paths: tuple[str, ...] = ()
    """What -config named, of which `config_files` are the files read."""
    config_files: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def server_tls_name(self) -> str:
        """What the certificates of this region's servers are named."""
        return f"server.{self.region}.nomad"

    @property
    def client_tls_name(self) -> str:
        """What the certificates of this region's clients are named."""
        return f"client.{self.region}.nomad"

    @property
    def rpc_callers(self) -> tuple[str, ...]:
        """The names of which a caller of the internal listener must have one; none if any will do."""
        tls = self.tls
        return (self.client_tls_name, self.server_tls_name) if tls.rpc and tls.verify_server_hostname else ()

    @property
    def simple_endpoint(self) -> str:
        """Where a control plane reaches this agent's simple API."""
        host = self.advertise.http.rpartition(":")[0]
        scheme = "https" if self.tls.http else "http"
        return self.simple_api.endpoint or f"{scheme}://{host}:{self.simple_api.agent_port}"

    def directories(self) -> Directories:
        """Where things go, as configured or below `data_dir`, which must be set."""
        assert self.data_dir, "the caller gives a dev agent its temporary data_dir"
        data_dir, client = PurePosixPath(self.data_dir), self.client
        return Directories(
            server=self.server.data_dir or str(data_dir / "server"),
            state=client.state_dir or str(data_dir / "client"),
            alloc=client.alloc_dir or str(data_dir / "alloc"),
            host_volumes=client.host_volumes_dir or str(data_dir / "host_volumes"),
            host_volume_plugins=client.host_volume_plugin_dir or str(data_dir / "host_volume_plugins"),
            common_plugins=client.common_plugin_dir or str(data_dir / "common_plugins"),
        )

    def as_nomad_json(self) -> dict[str, Any]:
        """The `config` member of `GET /v1/agent/self`, secrets redacted."""
        return agent_json(self)
