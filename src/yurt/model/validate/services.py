"""Problems with the services of groups and tasks."""

from __future__ import annotations

import re

from yurt.model.connect import ConsulConnect
from yurt.model.go_text import quoted
from yurt.model.group import TaskGroup
from yurt.model.multi_error import nested
from yurt.model.service import Service
from yurt.model.task import Task
from yurt.model.validate.checks import ON_UPDATE, check_errors

PORT_MAX = 65535

PROVIDERS = ("consul", "nomad")
_ADDRESS_MODES = ("auto", "host", "driver", "alloc", "alloc_ipv6")
_CONSUL_KINDS = (
    "",
    "api-gateway",
    "connect-proxy",
    "destination",
    "ingress-gateway",
    "mesh-gateway",
    "terminating-gateway",
)
_VARIABLE = re.compile(r"\$\{[^}]*\}")
_DNS_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


def group_services_errors(group: TaskGroup) -> list[str]:
    """Check a group's own services, and what it and its tasks' services must agree on."""
    errors: list[str] = []
    tasks = {task.name for task in group.tasks}
    for index, service in enumerate(group.services or ()):
        found = service_errors(service)
        if found:
            errors += nested(found, under=f"Service[{index}] {service.name} validation failed")
            continue
        errors += _group_placement_errors(service, tasks)
    every = [(None, service) for service in group.services or ()]
    every_of_task = [(task, service) for task in group.tasks for service in task.services or ()]
    if len({service.provider for _, service in (*every, *every_of_task)}) > 1:
        errors.append("Multiple service providers used: task group services must use the same provider")
    for task, service in every_of_task:
        errors += _owner_errors(task, service)
    names = [
        f"{task.name if task else 'group'}->{service.name}"
        + (f":{service.port_label}" if service.port_label else "")
        for task, service in (*every, *every_of_task)
    ]
    repeated = list(dict.fromkeys(name for name in names if names.count(name) > 1))
    if repeated:
        errors.append(f"Services are not unique: [{' '.join(repeated)}]")
    return errors


def group_script_check_errors(group: TaskGroup) -> list[str]:
    """Check that each script check of a group's service names the task to run in."""
    return [
        f"Service [{group.name}]->{service.name} or Check {check.name} must specify task parameter"
        for service in group.services or ()
        for check in service.checks or ()
        if check.type == "script" and not service.task_name and not check.task_name
    ]


def task_services_errors(task: Task, group: TaskGroup) -> list[str]:
    """Check the services of one task."""
    errors: list[str] = []
    services = task.services or ()
    names: set[str] = set()
    for index, service in enumerate(services):
        under = f"service[{index}] {quoted(service.name)} validation failed"
        errors += nested(service_errors(service), under=under)
        if service.address_mode in ("alloc", "alloc_ipv6"):
            errors.append(
                f"service {quoted(service.name)} cannot use address_mode={quoted(service.address_mode)}, "
                'only services defined in a "group" block can use this mode'
            )
        if service.connect is not None:
            errors.append(
                f'service {quoted(service.name)} cannot have "connect" block, '
                'only services defined in a "group" block can'
            )
        if service.name + service.port_label in names:
            errors.append(f"service {quoted(service.name)} is duplicate")
        names.add(service.name + service.port_label)
        checks: set[str] = set()
        for check in service.checks or ():
            if check.name in checks:
                errors.append(f"check {quoted(check.name)} is duplicate")
            checks.add(check.name)
    return errors + _port_label_errors(task, group)


def service_errors(service: Service) -> list[str]:
    """Check one service by itself."""
    errors = []
    if not _DNS_LABEL.fullmatch(_VARIABLE.sub("x", service.name)):
        errors.append(
            "Service name must be valid per RFC 1123 and can contain only alphanumeric characters or dashes "
            f"and must be no longer than 63 characters: {quoted(service.name)}"
        )
    if service.address_mode not in _ADDRESS_MODES:
        errors.append(
            f'Service address_mode must be "auto", "host", or "driver"; not {quoted(service.address_mode)}'
        )
    if service.address and service.address_mode != "auto":
        errors.append('Service address_mode must be "auto" if address is set')
    if service.on_update not in ON_UPDATE:
        errors.append(
            'Service on_update must be "require_healthy", "ignore_warnings", or "ignore"; '
            f"not {quoted(service.on_update)}"
        )
    if service.provider not in PROVIDERS:
        errors.append(f'Service provider must be "consul", or "nomad"; not {quoted(service.provider)}')
        return errors
    for check in service.checks or ():
        errors += check_errors(check, service)
    if service.provider == "nomad":
        if service.connect is not None:
            errors.append("Service with provider nomad cannot include Connect blocks")
        return errors
    if service.kind not in _CONSUL_KINDS:
        errors.append(f"Service {service.name} kind must be one of consul service kind or empty")
    if service.identity is not None and not service.identity.audience:
        errors.append("Service identity must provide at least one target aud value")
    if service.connect is not None:
        errors += _connect_errors(service, service.connect)
    return errors


def _connect_errors(service: Service, connect: ConsulConnect) -> list[str]:
    errors = []
    kinds = (connect.native, connect.sidecar_service is not None, connect.gateway is not None)
    if kinds.count(True) != 1:
        errors.append(
            "Consul Connect must be exclusively native, make use of a sidecar, or represent a Gateway"
        )
    gateway = connect.gateway
    if gateway is not None:
        configured = [
            kind for kind in (gateway.ingress, gateway.terminating, gateway.mesh) if kind is not None
        ]
        if len(configured) != 1:
            errors.append("One Consul Gateway Configuration must be set")
    if connect.native:
        if not service.task_name:
            errors.append(f"Service {service.name} is Connect Native and requires setting the task")
        if not service.port_label:
            errors.append(f"Service {service.name} is Connect Native and requires setting the port")
    return errors


def _group_placement_errors(service: Service, tasks: set[str]) -> list[str]:
    errors = []
    if service.address_mode == "driver":
        errors.append(
            f'service {quoted(service.name)} cannot use address_mode="driver", '
            'only services defined in a "task" block can use this mode'
        )
    for check in service.checks or ():
        if check.address_mode == "driver":
            errors.append(
                f'Check {quoted(service.name)} invalid: cannot use address_mode="driver", '
                'only checks defined in a "task" service block can use this mode'
            )
        if check.task_name and check.task_name not in tasks:
            errors.append(f"Check {check.name} invalid: refers to non-existent task {check.task_name}")
    return errors


def _owner_errors(task: Task, service: Service) -> list[str]:
    """Check that a task's service, and its checks, belong to that task."""
    errors = []
    if service.task_name != task.name:
        errors.append(
            f"Service {service.name} is invalid: may only specify task the service belongs to, "
            f"got {quoted(service.task_name)}"
        )
    errors += [
        f"Check {check.name} is invalid: may only specify task the check belongs to, "
        f"got {quoted(check.task_name)}"
        for check in service.checks or ()
        if check.task_name not in (task.name, service.task_name)
    ]
    return errors


def _port_label_errors(task: Task, group: TaskGroup) -> list[str]:
    """Check that the ports of a task's services exist in the group's first network or the task's own."""
    known: set[str] = set()
    for network in ((group.networks or ())[:1]) + (task.resources.networks or ()):
        known |= {port.label for port in (*(network.reserved_ports or ()), *(network.dynamic_ports or ()))}
    errors = []
    users: dict[str, list[str]] = {}
    for service in task.services or ():
        if service.port_label and not service.port_label.isdecimal():
            users.setdefault(service.port_label, []).append(service.name)
        for check in service.checks or ():
            if check.port_label.isdecimal():
                errors += _numeric_port_errors(check.name, check.port_label, check.address_mode)
            elif check.port_label:
                users.setdefault(check.port_label, []).append(service.name)
    for label, names in users.items():
        if label not in known:
            listed = ", ".join(dict.fromkeys(names))
            errors.append(f"port label {quoted(label)} referenced by services {listed} does not exist")
    return errors


def _numeric_port_errors(check: str, port: str, address_mode: str) -> list[str]:
    if address_mode != "driver":
        return [
            f'check {quoted(check)} cannot use a numeric port {port} without setting address_mode="driver"'
        ]
    if not 1 <= int(port) <= PORT_MAX:
        return [f"check {quoted(check)} has invalid numeric port {port}"]
    return []
