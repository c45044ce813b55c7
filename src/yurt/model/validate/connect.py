"""Problems with how a group's network and services use Consul Connect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from yurt.model.go_text import quoted
from yurt.model.group import TaskGroup
from yurt.model.service import Service


def connect_errors(groups: Sequence[TaskGroup]) -> list[str]:
    """Check the groups that have sidecar proxies."""
    errors: list[str] = []
    for group in groups:
        with_sidecar = [service for service in group.services or () if _has_sidecar(service)]
        if not with_sidecar:
            continue
        problem = _network_problem(group)
        if problem:
            errors.append(f"connect sidecar: {problem}")
            continue
        for service in with_sidecar:
            errors += _upper_case_errors(group, service)
        errors += _upstream_errors(group, with_sidecar)
    return errors


def expose_errors(groups: Sequence[TaskGroup]) -> list[str]:
    """Check the checks that are to pass through a proxy."""
    errors: list[str] = []
    for group in groups:
        for task in group.tasks:
            errors += [
                f"exposed service check {group.name}[{task.name}]->{service.name}->{check} "
                "is not a task-group service"
                for service, check in _exposed(task.services or ())
            ]
        exposed = list(_exposed(group.services or ()))
        if not exposed:
            continue
        problem = _network_problem(group)
        if problem:
            errors.append(f"connect expose check: {problem}")
            continue
        errors += [
            f"exposed service check {group.name}->{service.name}->{check} requires use of sidecar_proxy"
            for service, check in exposed
            if not _has_sidecar(service)
        ]
    return errors


def _has_sidecar(service: Service) -> bool:
    return service.connect is not None and service.connect.sidecar_service is not None


def _exposed(services: Sequence[Service]) -> Iterator[tuple[Service, str]]:
    for service in services:
        for check in service.checks or ():
            if check.expose:
                yield service, check.name


def _network_problem(group: TaskGroup) -> str:
    networks = group.networks or ()
    if len(networks) != 1:
        return (
            "must have exactly one network for Consul Connect: "
            f"group {quoted(group.name)} has {len(networks)} networks"
        )
    mode = networks[0].mode
    if mode != "bridge" and not mode.startswith("cni/"):
        return (
            f"invalid network mode for Consul Connect: group {quoted(group.name)} uses network mode "
            f'{quoted(mode)}; must be "bridge" or "cni/*"'
        )
    return ""


def _upper_case_errors(group: TaskGroup, service: Service) -> list[str]:
    errors = []
    if service.name != service.name.lower():
        errors.append(
            f"Consul Connect service name {quoted(service.name)} in group {quoted(group.name)} "
            "must not contain uppercase characters"
        )
    if group.name != group.name.lower():
        errors.append(
            f"Consul Connect group {quoted(group.name)} with service {quoted(service.name)} "
            "must not contain uppercase characters"
        )
    return errors


def _upstream_errors(group: TaskGroup, services: Sequence[Service]) -> list[str]:
    """Check that no two services bind the same local address."""
    errors = []
    bound: dict[str, str] = {}
    for service in services:
        assert service.connect is not None
        assert service.connect.sidecar_service is not None
        proxy = service.connect.sidecar_service.proxy
        for upstream in (proxy.upstreams if proxy is not None else None) or ():
            if upstream.local_bind_port == 0:
                continue
            address = f"{upstream.local_bind_address or '127.0.0.1'}:{upstream.local_bind_port}"
            other = bound.setdefault(address, service.name)
            if other != service.name:
                errors.append(
                    f"Consul Connect services {quoted(other)} and {quoted(service.name)} "
                    f"in group {quoted(group.name)} using same address for upstreams ({address})"
                )
    return errors
