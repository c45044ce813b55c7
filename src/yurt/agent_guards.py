"""What guards one agent's listeners, as its configuration says: limits, rates, the audit log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from yurt.api.auditing import Auditor
from yurt.api.call_rates import CallRates
from yurt.api.connection_limits import ConnectionLimits
from yurt.clock import Clock
from yurt.config import AgentConfig
from yurt.config.blocks.hardening import AuditSinkConfig
from yurt.errors import YurtError
from yurt.observe.audit import AuditLog, Filter
from yurt.observe.audit_file import AuditFile


class AuditFileUnusable(YurtError):
    """The audit log cannot be opened."""


def http_limits(config: AgentConfig) -> ConnectionLimits:
    """What the API allows a client."""
    limits = config.limits
    return ConnectionLimits(
        connections_per_client_max=limits.http_max_conns_per_client,
        handshake_timeout_s=limits.https_handshake_timeout_s,
        head_timeout_s=limits.http_header_timeout_s,
        body_timeout_s=limits.http_body_timeout_s,
        write_timeout_s=limits.http_write_timeout_s,
        idle_timeout_s=limits.http_idle_timeout_s,
        head_bytes_max=limits.http_max_header_size,
    )


def rpc_limits(config: AgentConfig) -> ConnectionLimits:
    """What the internal listener allows an agent."""
    return ConnectionLimits(
        connections_per_client_max=config.limits.rpc_max_conns_per_client,
        handshake_timeout_s=config.limits.rpc_handshake_timeout_s,
    )


def call_rates(config: AgentConfig, clock: Clock) -> CallRates | None:
    """How often a client may make costly calls; None if there is no limit."""
    limits = config.limits
    if not limits.http_costly_calls_per_second:
        return None
    return CallRates(
        per_second=limits.http_costly_calls_per_second,
        burst=limits.http_costly_calls_burst,
        now=clock.monotonic,
    )


def open_audit_log(config: AgentConfig) -> AuditLog | None:
    """The audit log, None if it is off. Raises AuditFileUnusable."""
    if not config.audit.enabled:
        return None
    sink = next(iter(config.audit.sinks.values()), AuditSinkConfig())
    path = Path(sink.path or f"{config.data_dir}/audit/audit.log")
    file = AuditFile(
        path=path,
        mode=int(sink.mode, 8),
        rotate_bytes=sink.rotate_bytes,
        rotate_after_s=sink.rotate_duration_s,
        kept_files_max=sink.rotate_max_files,
    )
    filters = [
        Filter(endpoints=one.endpoints, stages=one.stages, operations=one.operations)
        for one in config.audit.filters.values()
    ]
    try:
        return AuditLog(file, filters=filters, is_enforced=sink.delivery_guarantee == "enforced")
    except OSError as error:
        raise AuditFileUnusable(
            f"the audit log {path} cannot be opened: {error.strerror}; check audit.sink.path"
        ) from error


def auditor(
    log: AuditLog | None, config: AgentConfig, clock: Clock, new_id: Callable[[], str]
) -> Auditor | None:
    """What has calls written down; None without an audit log."""
    if log is None:
        return None
    return Auditor(log, agent_address=config.advertise.http, new_id=new_id, now_ns=clock.now_ns)
