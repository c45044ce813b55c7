"""Problems with the checks of services."""

from __future__ import annotations

import re

from yurt.model.durations import duration_text
from yurt.model.go_text import quoted
from yurt.model.multi_error import deeper
from yurt.model.service import Service, ServiceCheck
from yurt.model.times import SECOND_NS

CHECK_INTERVAL_MIN_NS = SECOND_NS
CHECK_TIMEOUT_MIN_NS = SECOND_NS
NOTES_MAX = 255

ON_UPDATE = ("require_healthy", "ignore_warnings", "ignore")

_TYPES = {"nomad": ("tcp", "http"), "consul": ("grpc", "tcp", "http", "script")}
_PORT_TYPES = ("grpc", "http", "tcp")
_STATES = ("", "passing", "warning", "critical")
_ADDRESS_MODES = ("", "host", "driver", "alloc", "alloc_ipv6")
_METHODS = ("", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE")
_COUNTERS = ("success_before_passing", "failures_before_critical", "failures_before_warning")
_BAD_URL = re.compile(r"[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def check_errors(check: ServiceCheck, service: Service) -> list[str]:
    """Check one check; only its first problem is told."""
    if check.type in _PORT_TYPES and not check.port_label and not service.port_label:
        problem = f"check requires a port but neither check nor service {quoted(service.name)} have a port"
        return [f"Check {check.name} invalid: {problem}"]
    if service.provider == "nomad":
        problem = _common_problem(check, provider="nomad") or _nomad_problem(check)
        return [problem] if problem else []
    problem = _common_problem(check, provider="consul") or _consul_problem(check, service)
    return [f"Check {check.name} invalid: {problem}"] if problem else []


def _common_problem(check: ServiceCheck, *, provider: str) -> str:
    types = _TYPES[provider]
    if check.type not in types:
        return f"invalid check type ({quoted(check.type)}), must be one of {', '.join(types)}"
    return _type_problem(check) or _timing_problem(check) or _state_problem(check) or _update_problem(check)


def _type_problem(check: ServiceCheck) -> str:
    if check.type == "script" and not check.command:
        return "script type must have a valid script path"
    if check.type == "http":
        if not check.path:
            return "http type must have http path"
        if _BAD_URL.search(check.path):
            return "http type must have valid http path"
        if _SCHEME.match(check.path):
            return "http type must have relative http path"
    return ""


def _timing_problem(check: ServiceCheck) -> str:
    interval, timeout = duration_text(CHECK_INTERVAL_MIN_NS), duration_text(CHECK_TIMEOUT_MIN_NS)
    if check.interval == 0:
        return f"missing required value interval. Interval cannot be less than {interval}"
    if check.interval < CHECK_INTERVAL_MIN_NS:
        return f"interval ({duration_text(check.interval)}) cannot be lower than {interval}"
    if check.timeout == 0:
        return f"missing required value timeout. Timeout cannot be less than {timeout}"
    if check.timeout < CHECK_TIMEOUT_MIN_NS:
        return f"timeout ({duration_text(check.timeout)}) is lower than required minimum timeout {timeout}"
    return ""


def _state_problem(check: ServiceCheck) -> str:
    if check.initial_status not in _STATES:
        return (
            f"invalid initial check state ({check.initial_status}), "
            'must be one of "passing", "warning", "critical" or empty'
        )
    if check.address_mode == "auto":
        return 'invalid address_mode "auto" - auto only valid for services'
    if check.address_mode not in _ADDRESS_MODES:
        return f"invalid address_mode {quoted(check.address_mode)}"
    return ""


def _update_problem(check: ServiceCheck) -> str:
    if check.on_update not in ON_UPDATE:
        return (
            'on_update must be "require_healthy", "ignore_warnings", or "ignore"; '
            f"got {quoted(check.on_update)}"
        )
    restart = check.check_restart
    if restart is None:
        return ""
    if check.on_update == "ignore":
        return 'on_update value "ignore" is not compatible with check_restart'
    if check.on_update == "ignore_warnings" and not restart.ignore_warnings:
        return (
            'on_update value "ignore_warnings" not supported with check_restart ignore_warnings value "false"'
        )
    problems = []
    if restart.limit < 0:
        problems.append(f"limit must be greater than or equal to 0 but found {restart.limit}")
    if restart.grace < 0:
        problems.append(f"grace period must be greater than or equal to 0 but found {restart.grace}")
    return "".join(deeper(problems))


def _nomad_problem(check: ServiceCheck) -> str:
    """Find what only checks run by Consul can have."""
    if check.expose:
        return "expose may only be set for Consul service checks"
    if check.on_update == "ignore_warnings":
        return "on_update may only be set to ignore_warnings for Consul service checks"
    for counter in _COUNTERS:
        if getattr(check, counter) != 0:
            return f"{counter} may only be set for Consul service checks"
    if check.check_restart is not None and check.check_restart.ignore_warnings:
        return "ignore_warnings on check_restart only supported for Consul service checks"
    if check.address_mode == "driver":
        return "address_mode = driver may only be set for Consul service checks"
    if check.type == "http" and check.method not in _METHODS:
        return f"method type {quoted(check.method)} not supported in Nomad http check"
    if check.tls_server_name:
        return "tls_server_name may only be set for Consul service checks"
    return ""


def _consul_problem(check: ServiceCheck, service: Service) -> str:
    if check.expose and check.type not in ("http", "grpc"):
        return "expose may only be set on HTTP or gRPC checks"
    for counter in _COUNTERS:
        value = getattr(check, counter)
        if value < 0:
            return f"{counter} must be non-negative"
        if value > 0 and check.type == "script":
            return f"{counter} not supported for check of type {quoted(check.type)}"
    if len(check.notes) > NOTES_MAX:
        return f"notes must not be longer than {NOTES_MAX} characters"
    if check.type == "tcp" and service.connect is not None and service.connect.sidecar_service is not None:
        return "tcp checks are not valid for Connect enabled services"
    return ""
