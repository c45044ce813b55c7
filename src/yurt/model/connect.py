"""Consul Connect blocks: kept and given back; they need Consul at run time."""

from __future__ import annotations

from typing import Any

from yurt.model.identity import WorkloadIdentity
from yurt.model.resources import Resources
from yurt.model.task_parts import LogConfig, VolumeMount
from yurt.model.wire import Nanoseconds, Wire, wire_names


class ConsulMeshGateway(Wire, frozen=True, kw_only=True):
    """How an upstream is reached across datacenters."""

    mode: str = ""


class ConsulUpstream(Wire, frozen=True, kw_only=True):
    """A service that the proxy makes reachable on a local port."""

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
    mesh_gateway: ConsulMeshGateway = ConsulMeshGateway()
    config: dict[str, Any] | None = None


class ConsulExposePath(Wire, frozen=True, kw_only=True):
    """A path that the proxy lets through without authentication."""

    path: str = ""
    protocol: str = ""
    local_path_port: int = 0
    listener_port: str = ""


class ConsulExpose(Wire, frozen=True, kw_only=True):
    """The paths that the proxy lets through."""

    paths: tuple[ConsulExposePath, ...] | None = None


class ConsulTransparentProxy(
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
    """Traffic redirection through the proxy."""

    uid: str = ""
    outbound_port: int = 0
    exclude_inbound_ports: tuple[str, ...] | None = None
    exclude_outbound_ports: tuple[int, ...] | None = None
    exclude_outbound_cidrs: tuple[str, ...] | None = None
    exclude_uids: tuple[str, ...] | None = None
    no_dns: bool = False


class ConsulProxy(Wire, frozen=True, kw_only=True):
    """Settings of a sidecar proxy."""

    local_service_address: str = ""
    local_service_port: int = 0
    upstreams: tuple[ConsulUpstream, ...] | None = None
    expose: ConsulExpose | None = None
    transparent_proxy: ConsulTransparentProxy | None = None
    config: dict[str, Any] | None = None


class ConsulSidecarService(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(disable_default_tcp_check="DisableDefaultTCPCheck"),
):
    """A proxy beside a service."""

    tags: tuple[str, ...] | None = None
    port: str = ""
    proxy: ConsulProxy | None = None
    disable_default_tcp_check: bool = False
    meta: dict[str, str] | None = None


class SidecarTask(Wire, frozen=True, kw_only=True):
    """Overrides of the injected proxy task."""

    name: str = ""
    driver: str = ""
    user: str = ""
    config: dict[str, Any] | None = None
    env: dict[str, str] | None = None
    resources: Resources | None = None
    meta: dict[str, str] | None = None
    kill_timeout: Nanoseconds | None = None
    log_config: LogConfig | None = None
    shutdown_delay: Nanoseconds | None = None
    kill_signal: str = ""
    volume_mounts: tuple[VolumeMount, ...] | None = None
    identities: tuple[WorkloadIdentity, ...] | None = None


class ConsulGatewayBindAddress(Wire, frozen=True, kw_only=True):
    """An address a gateway listens on."""

    address: str = ""
    port: int = 0


class ConsulGatewayProxy(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(envoy_dns_discovery_type="EnvoyDNSDiscoveryType"),
):
    """Proxy settings of a gateway."""

    connect_timeout: Nanoseconds | None = None
    envoy_gateway_bind_tagged_addresses: bool = False
    envoy_gateway_bind_addresses: dict[str, ConsulGatewayBindAddress] | None = None
    envoy_gateway_no_default_bind: bool = False
    envoy_dns_discovery_type: str = ""
    config: dict[str, Any] | None = None


class ConsulGateway(Wire, frozen=True, kw_only=True):
    """A gateway; its kinds are kept as they were sent."""

    proxy: ConsulGatewayProxy | None = None
    ingress: dict[str, Any] | None = None
    terminating: dict[str, Any] | None = None
    mesh: dict[str, Any] | None = None


class ConsulConnect(Wire, frozen=True, kw_only=True):
    """How a service joins the mesh."""

    native: bool = False
    sidecar_service: ConsulSidecarService | None = None
    sidecar_task: SidecarTask | None = None
    gateway: ConsulGateway | None = None
