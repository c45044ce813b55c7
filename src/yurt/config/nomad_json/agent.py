"""The whole `config` member."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yurt.config.blocks.access import AclConfig, TlsConfig
from yurt.config.blocks.telemetry import TelemetryConfig
from yurt.config.blocks.ui import UiConfig
from yurt.config.nomad_json.client import client_json
from yurt.config.nomad_json.hardening import audit_json, limits_json
from yurt.config.nomad_json.server import server_json
from yurt.config.nomad_json.unserved import UNSERVED_BLOCKS, UNSERVED_TELEMETRY
from yurt.config.nomad_json.unset import (
    REDACTED,
    if_set,
    list_or_null,
    nanoseconds_if_set,
    redacted,
    text_if_set,
)
from yurt.config.quantities import duration_text, nanoseconds
from yurt.version import NOMAD_VERSION, VERSION

if TYPE_CHECKING:
    from yurt.config.blocks.agent import AgentConfig

_SECRET_WORDS = ("password", "secret", "token")


def agent_json(config: AgentConfig) -> dict[str, Any]:
    """The configuration in Nomad's names, secrets redacted."""
    return {
        **UNSERVED_BLOCKS,
        "ACL": _acl_json(config.acl),
        "Addresses": {
            "HTTP": config.addresses.http,
            "RPC": config.addresses.rpc,
            "Serf": config.addresses.serf,
        },
        "AdvertiseAddrs": {
            "HTTP": config.advertise.http,
            "RPC": config.advertise.rpc,
            "Serf": config.advertise.serf,
        },
        "Audit": audit_json(config.audit),
        "BindAddr": config.bind_addr,
        "Client": client_json(config.client),
        "ConfigPaths": list(config.config_paths),
        "DataDir": config.data_dir,
        "Datacenter": config.datacenter,
        "DevMode": config.dev,
        "DisableAnonymousSignature": config.disable_anonymous_signature,
        "DisableUpdateCheck": config.disable_update_check,
        "EnableDebug": config.enable_debug,
        "Files": list(config.config_files),
        "HTTPAPIResponseHeaders": config.http_api_response_headers,
        "LeaveOnInt": config.leave_on_interrupt,
        "LeaveOnTerm": config.leave_on_terminate,
        "Limits": limits_json(config.limits),
        "LogFile": config.log_file,
        "LogIncludeLocation": config.log_include_location,
        "LogJson": config.log_json,
        "LogLevel": config.log_level,
        "LogRotateBytes": config.log_rotate_bytes,
        "LogRotateDuration": text_if_set(config, "log_rotate_duration_s"),
        "LogRotateMaxFiles": config.log_rotate_max_files,
        "NodeName": config.name,
        "Plugins": [
            {"Args": list_or_null(plugin.args), "Config": _without_secrets(plugin.config), "Name": name}
            for name, plugin in config.plugins.items()
        ],
        "Ports": {"HTTP": config.ports.http, "RPC": config.ports.rpc, "Serf": config.ports.serf},
        "Region": config.region,
        "Server": server_json(config.server),
        "TLSConfig": _tls_json(config.tls),
        "Telemetry": _telemetry_json(config.telemetry),
        "UI": _ui_json(config.ui),
        "Version": {
            "BuildDate": None,
            "Revision": "",
            "Version": NOMAD_VERSION,
            "VersionMetadata": f"yurt.{VERSION}",
            "VersionPrerelease": "",
        },
    }


def _without_secrets(value: Any) -> Any:  # noqa: ANN401 (a plugin's configuration is free-form)
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: REDACTED if inner and any(w in key.lower() for w in _SECRET_WORDS) else _without_secrets(inner)
        for key, inner in value.items()
    }


def _acl_json(acl: AclConfig) -> dict[str, Any]:
    return {
        "Enabled": acl.enabled,
        "PolicyTTL": nanoseconds(acl.policy_ttl_s),
        "ReplicationToken": redacted(acl.replication_token),
        "RoleTTL": nanoseconds(acl.role_ttl_s),
        "TokenMaxExpirationTTL": nanoseconds_if_set(acl, "token_max_expiration_ttl_s"),
        "TokenMinExpirationTTL": nanoseconds_if_set(acl, "token_min_expiration_ttl_s"),
        "TokenTTL": nanoseconds(acl.token_ttl_s),
    }


def _tls_json(tls: TlsConfig) -> dict[str, Any]:
    return {
        "CAFile": tls.ca_file,
        "CertFile": tls.cert_file,
        "Checksum": "",
        "EnableHTTP": tls.http,
        "EnableRPC": tls.rpc,
        "KeyFile": tls.key_file,
        "KeyLoader": {},
        "RPCUpgradeMode": tls.rpc_upgrade_mode,
        "TLSCipherSuites": tls.tls_cipher_suites,
        "TLSMinVersion": if_set(tls, "tls_min_version", ""),
        "VerifyHTTPSClient": tls.verify_https_client,
        "VerifyServerHostname": tls.verify_server_hostname,
    }


def _telemetry_json(telemetry: TelemetryConfig) -> dict[str, Any]:
    return {
        **UNSERVED_TELEMETRY,
        "AllowedMetadataKeysInMetrics": list(telemetry.allowed_metadata_keys_in_metrics),
        "CollectionInterval": duration_text(telemetry.collection_interval_s),
        "DisableAllocationHookMetrics": telemetry.disable_allocation_hook_metrics,
        "DisableDispatchedJobSummaryMetrics": telemetry.disable_dispatched_job_summary_metrics,
        "DisableHostname": telemetry.disable_hostname,
        "FilterDefault": None if telemetry.filter_default else False,
        "InMemoryCollectionInterval": duration_text(telemetry.in_memory_collection_interval_s),
        "InMemoryRetentionPeriod": duration_text(telemetry.in_memory_retention_period_s),
        "IncludeAllocMetadataInMetrics": telemetry.include_alloc_metadata_in_metrics,
        "PrefixFilter": list_or_null(telemetry.prefix_filter),
        "PrometheusMetrics": telemetry.prometheus_metrics,
        "PublishAllocationMetrics": telemetry.publish_allocation_metrics,
        "PublishNodeMetrics": telemetry.publish_node_metrics,
        "UseNodeName": telemetry.use_node_name,
    }


def _ui_json(ui: UiConfig) -> dict[str, Any]:
    policy, label = ui.content_security_policy, ui.label
    return {
        "Consul": {"BaseUIURL": ui.consul.ui_url},
        "ContentSecurityPolicy": {
            "ConnectSrc": list(policy.connect_src),
            "DefaultSrc": list(policy.default_src),
            "FormAction": list(policy.form_action),
            "FrameAncestors": list(policy.frame_ancestors),
            "ImgSrc": list(policy.img_src),
            "ScriptSrc": list(policy.script_src),
            "StyleSrc": list(policy.style_src),
        },
        "Enabled": ui.enabled,
        "Label": {
            "BackgroundColor": label.background_color,
            "Text": label.text,
            "TextColor": label.text_color,
        },
        "ShowCLIHints": ui.show_cli_hints,
        "Vault": {"BaseUIURL": ui.vault.ui_url},
    }
