"""`limits` and `audit` in Nomad's names."""

from __future__ import annotations

from typing import Any

from yurt.config.blocks.hardening import AuditConfig, AuditFilterConfig, AuditSinkConfig, LimitsConfig
from yurt.config.quantities import duration_text, nanoseconds


def limits_json(limits: LimitsConfig) -> dict[str, Any]:
    """`Limits`: what Nomad has of it."""
    return {
        "HTTPMaxConnsPerClient": limits.http_max_conns_per_client,
        "HTTPSHandshakeTimeout": duration_text(limits.https_handshake_timeout_s),
        "RPCHandshakeTimeout": duration_text(limits.rpc_handshake_timeout_s),
        "RPCMaxConnsPerClient": limits.rpc_max_conns_per_client,
    }


def audit_json(audit: AuditConfig) -> dict[str, Any]:
    """`Audit`"""
    return {
        "Enabled": audit.enabled or None,
        "Filters": [_filter_json(name, one) for name, one in audit.filters.items()] or None,
        "Sinks": [_sink_json(name, sink) for name, sink in audit.sinks.items()] or None,
    }


def _sink_json(name: str, sink: AuditSinkConfig) -> dict[str, Any]:
    return {
        "Name": name,
        "Type": sink.type,
        "Format": sink.format,
        "Path": sink.path,
        "DeliveryGuarantee": sink.delivery_guarantee,
        "Mode": sink.mode,
        "RotateBytes": sink.rotate_bytes,
        "RotateDuration": nanoseconds(sink.rotate_duration_s),
        "RotateMaxFiles": sink.rotate_max_files,
    }


def _filter_json(name: str, one: AuditFilterConfig) -> dict[str, Any]:
    return {
        "Name": name,
        "Type": one.type,
        "Endpoints": list(one.endpoints),
        "Stages": list(one.stages),
        "Operations": list(one.operations),
    }
