"""At which address and port a service is found."""

from __future__ import annotations

import msgspec

from yurt.agent.drivers.driver import DriverNetwork
from yurt.errors import YurtError
from yurt.model.alloc import NetworkStatus
from yurt.model.allocated import AllocatedResources

AUTO = "auto"
HOST = "host"
DRIVER = "driver"
ALLOC, ALLOC_IPV6 = "alloc", "alloc_ipv6"


class NoAddress(YurtError):
    """The service has no address in the way that it asks for."""


class Endpoint(msgspec.Struct, frozen=True):
    """Where something listens; without an `ip`, on the machine that asks."""

    ip: str
    port: int


class _Port(msgspec.Struct, frozen=True):
    ip: str
    host: int
    inside: int


def endpoint(
    resources: AllocatedResources,
    *,
    task: str,
    mode: str,
    label: str,
    fixed: str = "",
    network: DriverNetwork | None = None,
    status: NetworkStatus | None = None,
) -> Endpoint:
    """Find the place of a service of `task`, or of the group without one. Raises NoAddress.

    `label` is a port's name, its number, or nothing; `fixed` an address that the job gives; `network` what
    the driver gave the task; `status` the network of the allocation's own.
    """
    if fixed:
        return Endpoint(fixed, _host(resources, task, label).port)
    if mode == AUTO:
        mode = DRIVER if network is not None and network.auto_advertise else HOST
    if mode == HOST:
        return _host(resources, task, label)
    if mode == DRIVER:
        return _driver(resources, task, label, network)
    if mode in (ALLOC, ALLOC_IPV6) and status is not None:
        ip = status.address if mode == ALLOC else status.address_ipv6
        if ip:
            return _alloc(resources, task, label, ip)
        raise NoAddress(f'cannot use address_mode="{mode}": the allocation has no such address')
    raise NoAddress(f'cannot use address_mode="{mode}": the allocation has no network of its own; use "host"')


def _host(resources: AllocatedResources, task: str, label: str) -> Endpoint:
    if not label:
        return Endpoint(_single_ip(resources, task), 0)
    number = _number(label)
    if number is not None:
        return Endpoint("", number)
    port = _named(resources, task, label)
    return Endpoint(port.ip, port.host)


def _driver(resources: AllocatedResources, task: str, label: str, network: DriverNetwork | None) -> Endpoint:
    if network is None or not network.ip:
        raise NoAddress('cannot use address_mode="driver": no driver network exists')
    if not label:
        return Endpoint(network.ip, 0)
    number = _number(label)
    if number is not None:
        return Endpoint(network.ip, number)
    if label in network.port_map:
        return Endpoint(network.ip, network.port_map[label])
    return Endpoint(network.ip, _named(resources, task, label).inside)


def _alloc(resources: AllocatedResources, task: str, label: str, ip: str) -> Endpoint:
    if not label:
        return Endpoint(ip, 0)
    number = _number(label)
    return Endpoint(ip, number if number is not None else _named(resources, task, label).inside)


def _number(label: str) -> int | None:
    return int(label) if label.isascii() and label.isdigit() else None


def _named(resources: AllocatedResources, task: str, label: str) -> _Port:
    for port in resources.shared.ports or ():
        if port.label == label:
            return _Port(port.host_ip, port.value, port.to if port.to > 0 else port.value)
    given = resources.tasks.get(task)
    for network in (given.networks or ()) if given else ():
        for asked in (*(network.reserved_ports or ()), *(network.dynamic_ports or ())):
            if asked.label == label:
                return _Port(network.ip, asked.value, asked.to if asked.to > 0 else asked.value)
    raise NoAddress(f'invalid port "{label}": port label not found')


def _single_ip(resources: AllocatedResources, task: str) -> str:
    """The address of the owner's only network. A task does not own the network of its group."""
    given = resources.tasks.get(task)
    networks = (given.networks if given else None) if task else resources.shared.networks
    return networks[0].ip if networks and len(networks) == 1 else ""
