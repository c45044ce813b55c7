"""`connect`: sidecars and gateways of a Consul service mesh."""

from typing import Final

from yurt.jobspec.decoding import BlockSpec, JSONObject, Nested, Reading
from yurt.jobspec.fields import (
    MAP_VALUE,
    UINT16,
    duration,
    plain_flag,
    plain_text,
    plain_whole,
    text_map,
    texts,
    whole,
    wholes,
)
from yurt.jobspec.schema.identity import IDENTITY
from yurt.jobspec.schema.resources import RESOURCES
from yurt.jobspec.schema.storage import LOGS, VOLUME_MOUNT

_EXPOSE_PATH: Final = BlockSpec(
    plain_text("path", "Path"),
    plain_text("protocol", "Protocol"),
    plain_whole("local_path_port", "LocalPathPort"),
    plain_text("listener_port", "ListenerPort"),
)
_UPSTREAM: Final = BlockSpec(
    plain_text("destination_name", "DestinationName"),
    plain_text("destination_namespace", "DestinationNamespace"),
    plain_text("destination_peer", "DestinationPeer"),
    plain_text("destination_partition", "DestinationPartition"),
    plain_text("destination_type", "DestinationType"),
    plain_whole("local_bind_port", "LocalBindPort"),
    plain_text("local_bind_address", "LocalBindAddress"),
    plain_text("local_bind_socket_path", "LocalBindSocketPath"),
    plain_text("local_bind_socket_mode", "LocalBindSocketMode"),
    plain_text("datacenter", "Datacenter"),
    blocks=(
        Nested("mesh_gateway", "MeshGateway", BlockSpec(plain_text("mode", "Mode"))),
        Nested("config", "Config"),
    ),
)
_TRANSPARENT_PROXY: Final = BlockSpec(
    plain_text("uid", "UID"),
    plain_whole("outbound_port", "OutboundPort", bounds=UINT16),
    texts("exclude_inbound_ports", "ExcludeInboundPorts"),
    wholes("exclude_outbound_ports", "ExcludeOutboundPorts", bounds=UINT16),
    texts("exclude_outbound_cidrs", "ExcludeOutboundCIDRs"),
    texts("exclude_uids", "ExcludeUIDs"),
    plain_flag("no_dns", "NoDNS"),
)
_PROXY: Final = BlockSpec(
    plain_text("local_service_address", "LocalServiceAddress"),
    plain_whole("local_service_port", "LocalServicePort"),
    blocks=(
        Nested("config", "Config"),
        Nested(
            "expose",
            "Expose",
            BlockSpec(blocks=(Nested("path", "Paths", _EXPOSE_PATH, is_list=True),), unset={"Path": None}),
        ),
        Nested("upstreams", "Upstreams", _UPSTREAM, is_list=True),
        Nested("transparent_proxy", "TransparentProxy", _TRANSPARENT_PROXY),
    ),
    unset={"ExposeConfig": None},
)
_SIDECAR_SERVICE: Final = BlockSpec(
    texts("tags", "Tags"),
    plain_text("port", "Port"),
    plain_flag("disable_default_tcp_check", "DisableDefaultTCPCheck"),
    blocks=(Nested("meta", "Meta", field=MAP_VALUE), Nested("proxy", "Proxy", _PROXY)),
)
_SIDECAR_TASK: Final = BlockSpec(
    plain_text("name", "Name"),
    plain_text("driver", "Driver"),
    plain_text("user", "User"),
    duration("kill_timeout", "KillTimeout"),
    duration("shutdown_delay", "ShutdownDelay"),
    plain_text("kill_signal", "KillSignal"),
    either=(text_map("env", "Env"), text_map("meta", "Meta")),
    blocks=(
        Nested("config", "Config"),
        Nested("resources", "Resources", RESOURCES),
        Nested("logs", "LogConfig", LOGS),
        Nested("volume_mount", "VolumeMounts", VOLUME_MOUNT, is_list=True),
        Nested("identity", "Identities", IDENTITY, is_list=True),
    ),
)


def _bind_addresses(members: JSONObject, _: Reading) -> JSONObject:
    addresses = members["EnvoyGatewayBindAddresses"]
    by_name = {address["Name"]: address for address in addresses} if addresses else None
    return members | {"EnvoyGatewayBindAddresses": by_name}


_GATEWAY_PROXY: Final = BlockSpec(
    duration("connect_timeout", "ConnectTimeout"),
    plain_flag("envoy_gateway_bind_tagged_addresses", "EnvoyGatewayBindTaggedAddresses"),
    plain_flag("envoy_gateway_no_default_bind", "EnvoyGatewayNoDefaultBind"),
    plain_text("envoy_dns_discovery_type", "EnvoyDNSDiscoveryType"),
    blocks=(
        Nested(
            "envoy_gateway_bind_addresses",
            "EnvoyGatewayBindAddresses",
            BlockSpec(
                plain_text("address", "Address"),
                plain_whole("port", "Port"),
                labels=("name",),
                finish=lambda members, reading: {"Name": reading.label, **members},
            ),
            is_list=True,
        ),
        Nested("config", "Config"),
    ),
    finish=_bind_addresses,
)
_SDS: Final = Nested(
    "sds",
    "SDS",
    BlockSpec(plain_text("cluster_name", "ClusterName"), plain_text("cert_resource", "CertResource")),
)
_HEADERS: Final = BlockSpec(
    texts("remove", "Remove"),
    blocks=(Nested("add", "Add", field=MAP_VALUE), Nested("set", "Set", field=MAP_VALUE)),
)
_INGRESS_SERVICE: Final = BlockSpec(
    plain_text("name", "Name"),
    texts("hosts", "Hosts"),
    whole("max_connections", "MaxConnections"),
    whole("max_pending_requests", "MaxPendingRequests"),
    whole("max_concurrent_requests", "MaxConcurrentRequests"),
    blocks=(
        Nested("tls", "TLS", BlockSpec(blocks=(_SDS,))),
        Nested("request_headers", "RequestHeaders", _HEADERS),
        Nested("response_headers", "ResponseHeaders", _HEADERS),
    ),
)
_INGRESS: Final = BlockSpec(
    blocks=(
        Nested(
            "tls",
            "TLS",
            BlockSpec(
                plain_flag("enabled", "Enabled"),
                plain_text("tls_min_version", "TLSMinVersion"),
                plain_text("tls_max_version", "TLSMaxVersion"),
                texts("cipher_suites", "CipherSuites"),
                blocks=(_SDS,),
            ),
        ),
        Nested(
            "listener",
            "Listeners",
            BlockSpec(
                plain_whole("port", "Port"),
                plain_text("protocol", "Protocol"),
                blocks=(Nested("service", "Services", _INGRESS_SERVICE, is_list=True),),
            ),
            is_list=True,
        ),
    )
)
_TERMINATING: Final = BlockSpec(
    blocks=(
        Nested(
            "service",
            "Services",
            BlockSpec(
                plain_text("name", "Name"),
                plain_text("ca_file", "CAFile"),
                plain_text("cert_file", "CertFile"),
                plain_text("key_file", "KeyFile"),
                plain_text("sni", "SNI"),
            ),
            is_list=True,
        ),
    )
)
_GATEWAY: Final = BlockSpec(
    blocks=(
        Nested("proxy", "Proxy", _GATEWAY_PROXY),
        Nested("ingress", "Ingress", _INGRESS),
        Nested("terminating", "Terminating", _TERMINATING),
        Nested("mesh", "Mesh", BlockSpec()),
    )
)

CONNECT: Final = BlockSpec(
    plain_flag("native", "Native"),
    blocks=(
        Nested("sidecar_service", "SidecarService", _SIDECAR_SERVICE),
        Nested("sidecar_task", "SidecarTask", _SIDECAR_TASK),
        Nested("gateway", "Gateway", _GATEWAY),
    ),
)
