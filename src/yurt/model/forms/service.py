"""Forms of services, with their checks and Consul Connect blocks."""

from __future__ import annotations

from typing import Any

from yurt.model.connect import ConsulExposePath
from yurt.model.forms.task_parts import LogConfigForm, ResourcesForm, VolumeMountForm, WorkloadIdentityForm
from yurt.model.go_types import Duration, Uint16
from yurt.model.service import ServiceWeights
from yurt.model.wire import Wire, wire_names


class CheckRestartForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.service.CheckRestart`."""

    limit: int = 0
    grace: Duration | None = None
    ignore_warnings: bool = False


class ServiceCheckForm(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(tls_server_name="TLSServerName", grpc_use_tls="GRPCUseTLS"),
):
    """See `yurt.model.service.ServiceCheck`. `Advertise` is read and dropped."""

    name: str = ""
    type: str = ""
    command: str = ""
    args: list[str] | None = None
    path: str = ""
    protocol: str = ""
    port_label: str = ""
    expose: bool = False
    address_mode: str = ""
    advertise: str = ""
    interval: Duration = 0
    timeout: Duration = 0
    initial_status: str = ""
    notes: str = ""
    tls_server_name: str = ""
    tls_skip_verify: bool = False
    method: str = ""
    header: dict[str, list[str]] | None = None
    check_restart: CheckRestartForm | None = None
    grpc_service: str = ""
    grpc_use_tls: bool = False
    task_name: str = ""
    success_before_passing: int = 0
    failures_before_critical: int = 0
    failures_before_warning: int = 0
    body: str = ""
    on_update: str = ""


class ConsulMeshGatewayForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.ConsulMeshGateway`."""

    mode: str = ""


class ConsulUpstreamForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.ConsulUpstream`."""

    destination_name: str = ""
    destination_namespace: str = ""
    destination_partition: str = ""
    destination_peer: str = ""
    destination_type: str = ""
    local_bind_port: int = 0
    datacenter: str = ""
    local_bind_address: str = ""
    local_bind_socket_path: str = ""
    local_bind_socket_mode: str = ""
    mesh_gateway: ConsulMeshGatewayForm | None = None
    config: dict[str, Any] | None = None


class ConsulExposeConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.ConsulExpose`; `Path` is an older name of `Paths`."""

    paths: list[ConsulExposePath] | None = None
    path: list[ConsulExposePath] | None = None


class ConsulTransparentProxyForm(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(
        uid="UID",
        exclude_uids="ExcludeUIDs",
        exclude_outbound_cidrs="ExcludeOutboundCIDRs",
        no_dns="NoDNS",
    ),
):
    """See `yurt.model.connect.ConsulTransparentProxy`."""

    uid: str = ""
    outbound_port: Uint16 = 0
    exclude_inbound_ports: list[str] | None = None
    exclude_outbound_ports: list[Uint16] | None = None
    exclude_outbound_cidrs: list[str] | None = None
    exclude_uids: list[str] | None = None
    no_dns: bool = False


class ConsulProxyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.ConsulProxy`; `ExposeConfig` is an older name of `Expose`."""

    local_service_address: str = ""
    local_service_port: int = 0
    upstreams: list[ConsulUpstreamForm] | None = None
    expose: ConsulExposeConfigForm | None = None
    expose_config: ConsulExposeConfigForm | None = None
    transparent_proxy: ConsulTransparentProxyForm | None = None
    config: dict[str, Any] | None = None


class ConsulSidecarServiceForm(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(disable_default_tcp_check="DisableDefaultTCPCheck"),
):
    """See `yurt.model.connect.ConsulSidecarService`."""

    tags: list[str] | None = None
    port: str = ""
    proxy: ConsulProxyForm | None = None
    disable_default_tcp_check: bool = False
    meta: dict[str, str] | None = None


class SidecarTaskForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.SidecarTask`."""

    name: str = ""
    driver: str = ""
    user: str = ""
    config: dict[str, Any] | None = None
    env: dict[str, str] | None = None
    resources: ResourcesForm | None = None
    meta: dict[str, str] | None = None
    kill_timeout: Duration | None = None
    log_config: LogConfigForm | None = None
    shutdown_delay: Duration | None = None
    kill_signal: str = ""
    volume_mounts: list[VolumeMountForm] | None = None
    identities: list[WorkloadIdentityForm] | None = None


class ConsulGatewayBindAddressForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.ConsulGatewayBindAddress`."""

    name: str = ""
    address: str = ""
    port: int = 0


class ConsulGatewayProxyForm(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(envoy_dns_discovery_type="EnvoyDNSDiscoveryType"),
):
    """See `yurt.model.connect.ConsulGatewayProxy`."""

    connect_timeout: Duration | None = None
    envoy_gateway_bind_tagged_addresses: bool = False
    envoy_gateway_bind_addresses: dict[str, ConsulGatewayBindAddressForm] | None = None
    envoy_gateway_no_default_bind: bool = False
    envoy_dns_discovery_type: str = ""
    config: dict[str, Any] | None = None


class ConsulGatewayForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.ConsulGateway`."""

    proxy: ConsulGatewayProxyForm | None = None
    ingress: dict[str, Any] | None = None
    terminating: dict[str, Any] | None = None
    mesh: dict[str, Any] | None = None


class ConsulConnectForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.connect.ConsulConnect`."""

    native: bool = False
    gateway: ConsulGatewayForm | None = None
    sidecar_service: ConsulSidecarServiceForm | None = None
    sidecar_task: SidecarTaskForm | None = None


class ServiceForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.service.Service`; `CheckRestart` is the base of each check's own."""

    name: str = ""
    tags: list[str] | None = None
    canary_tags: list[str] | None = None
    enable_tag_override: bool = False
    port_label: str = ""
    address_mode: str = ""
    address: str = ""
    checks: list[ServiceCheckForm] | None = None
    check_restart: CheckRestartForm | None = None
    connect: ConsulConnectForm | None = None
    meta: dict[str, str] | None = None
    canary_meta: dict[str, str] | None = None
    tagged_addresses: dict[str, str] | None = None
    weights: ServiceWeights | None = None
    task_name: str = ""
    on_update: str = ""
    identity: WorkloadIdentityForm | None = None
    provider: str = ""
    cluster: str = ""
    kind: str = ""
