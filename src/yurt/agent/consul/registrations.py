"""What Consul is told about the services of an allocation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from yurt.agent.services.addresses import HOST, Endpoint, NoAddress, endpoint
from yurt.agent.services.registrations import Owner, interpolated, service_id
from yurt.model.node import Node
from yurt.model.service import Service, ServiceCheck
from yurt.model.times import SECOND_NS

CONSUL = "consul"
SCRIPT = "script"
# Which node a service is of: several may share a Consul agent, and each removes its own only.
NODE_META = "yurt-node"
# Consul calls a check critical that nobody has reported on for its interval and this much.
TTL_GRACE_S = 31


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """A service in Consul's words, and its checks."""

    id: str
    body: dict[str, Any]
    checks: tuple[ConsulServiceCheck, ...] = ()


class ConsulServiceCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check that Consul runs, or for a script hears of."""

    id: str
    task: str
    service: Service
    check: ServiceCheck


def of_consul(services: Iterable[Service] | None) -> tuple[Service, ...]:
    """The services that are found through Consul."""
    return tuple(service for service in services or () if service.provider == CONSUL)


def registration(service: Service, owner: Owner, node: Node) -> Registration:
    """Say where a service is found, and how it is checked. Raises NoAddress."""
    made = interpolated(service, owner.env)
    place = endpoint(
        owner.alloc.resources,
        task=owner.task,
        mode=made.address_mode,
        label=made.port_label,
        fixed=made.address,
        network=owner.network,
        status=owner.status,
    )
    alloc = owner.alloc
    is_canary = alloc.deployment_status is not None and alloc.deployment_status.canary
    tags = (made.canary_tags if is_canary and made.canary_tags else made.tags) or ()
    meta = (made.canary_meta if is_canary and made.canary_meta else made.meta) or {}
    id_ = service_id(made, owner)
    checks = tuple(_check(id_, made, check, owner) for check in made.checks or ())
    text = owner.env.interpolate
    body: dict[str, Any] = {
        "ID": id_,
        "Name": made.name,
        "Tags": tags,
        "Address": place.ip,
        "Port": place.port,
        "EnableTagOverride": made.enable_tag_override,
        "Meta": {
            **{name: text(value) for name, value in meta.items()},
            "external-source": "nomad",
            NODE_META: str(node.id),
        },
        "Checks": [_check_body(check, owner) for check in checks],
    }
    if made.kind:
        body["Kind"] = made.kind
    if made.weights is not None:
        body["Weights"] = {"Passing": made.weights.passing, "Warning": made.weights.warning}
    if made.tagged_addresses:
        body["TaggedAddresses"] = {
            name: {"Address": text(address), "Port": place.port}
            for name, address in made.tagged_addresses.items()
        }
    return Registration(id=id_, body=body, checks=checks)


def _check(id_: str, service: Service, check: ServiceCheck, owner: Owner) -> ConsulServiceCheck:
    digest = hashlib.sha1(id_.encode() + msgspec.json.encode(check), usedforsecurity=False).hexdigest()
    task = check.task_name or service.task_name or owner.task
    return ConsulServiceCheck(id=f"_nomad-check-{digest}", task=task, service=service, check=check)


def _check_body(made: ConsulServiceCheck, owner: Owner) -> dict[str, Any]:
    check = made.check
    body: dict[str, Any] = {
        "CheckID": made.id,
        "Name": check.name,
        "Notes": check.notes,
        "Status": check.initial_status or "critical",
    }
    if check.type == SCRIPT:
        return body | {"TTL": f"{check.interval // SECOND_NS + TTL_GRACE_S}s"}
    place = _target(made, owner)
    at = f"[{place.ip}]:{place.port}" if ":" in place.ip else f"{place.ip or '127.0.0.1'}:{place.port}"
    body |= {
        "Interval": f"{check.interval / SECOND_NS:g}s",
        "Timeout": f"{check.timeout / SECOND_NS:g}s",
        "TLSSkipVerify": check.tls_skip_verify,
        "TLSServerName": check.tls_server_name,
        "SuccessBeforePassing": check.success_before_passing,
        "FailuresBeforeCritical": check.failures_before_critical,
        "FailuresBeforeWarning": check.failures_before_warning,
    }
    match check.type:
        case "http":
            path = check.path if check.path.startswith("/") else f"/{check.path}"
            body |= {
                "HTTP": f"{check.protocol or 'http'}://{at}{path}",
                "Method": check.method,
                "Header": check.header or {},
                "Body": check.body,
            }
        case "grpc":
            name = f"/{check.grpc_service}" if check.grpc_service else ""
            body |= {"GRPC": f"{at}{name}", "GRPCUseTLS": check.grpc_use_tls}
        case _:
            body["TCP"] = at
    return body


def _target(made: ConsulServiceCheck, owner: Owner) -> Endpoint:
    check, service = made.check, made.service
    label = check.port_label or service.port_label
    if not label:
        raise NoAddress(f'check "{check.name}" has no port')
    return endpoint(
        owner.alloc.resources,
        task=owner.task,
        mode=check.address_mode or HOST,
        label=label,
        fixed="" if check.address_mode else service.address,
        network=owner.network,
        status=owner.status,
    )
