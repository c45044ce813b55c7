"""Services a group or task registers, with their checks."""

from __future__ import annotations

from yurt.model.connect import ConsulConnect
from yurt.model.identity import WorkloadIdentity
from yurt.model.wire import Nanoseconds, Wire, wire_names


class CheckRestart(Wire, frozen=True, kw_only=True):
    """When an unhealthy check restarts its task."""

    limit: int = 0
    grace: Nanoseconds = 0
    ignore_warnings: bool = False


class ServiceCheck(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(tls_server_name="TLSServerName", grpc_use_tls="GRPCUseTLS"),
):
    """A health check of a service."""

    name: str = ""
    type: str = ""
    command: str = ""
    args: tuple[str, ...] | None = None
    path: str = ""
    protocol: str = ""
    port_label: str = ""
    expose: bool = False
    address_mode: str = ""
    interval: Nanoseconds = 0
    timeout: Nanoseconds = 0
    initial_status: str = ""
    notes: str = ""
    tls_server_name: str = ""
    tls_skip_verify: bool = False
    method: str = ""
    header: dict[str, tuple[str, ...]] | None = None
    check_restart: CheckRestart | None = None
    grpc_service: str = ""
    grpc_use_tls: bool = False
    task_name: str = ""
    success_before_passing: int = 0
    failures_before_critical: int = 0
    failures_before_warning: int = 0
    body: str = ""
    on_update: str = ""


class ServiceWeights(Wire, frozen=True, kw_only=True):
    """DNS weights of a service."""

    passing: int = 1
    warning: int = 1


class Service(Wire, frozen=True, kw_only=True):
    """A service that runs in a group or task."""

    name: str = ""
    task_name: str = ""
    port_label: str = ""
    address_mode: str = "auto"
    address: str = ""
    enable_tag_override: bool = False
    tags: tuple[str, ...] | None = None
    canary_tags: tuple[str, ...] | None = None
    checks: tuple[ServiceCheck, ...] | None = None
    connect: ConsulConnect | None = None
    meta: dict[str, str] | None = None
    canary_meta: dict[str, str] | None = None
    weights: ServiceWeights | None = None
    tagged_addresses: dict[str, str] | None = None
    namespace: str = ""
    on_update: str = "require_healthy"
    provider: str = "consul"
    cluster: str = "default"
    identity: WorkloadIdentity | None = None
    kind: str = ""
