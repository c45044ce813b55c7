"""The network that the tasks of an allocation share."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import msgspec

from yurt.agent.network.cni_plugins import INTERFACE, PortMapping
from yurt.model.alloc import NetworkStatus
from yurt.model.allocated import AllocatedPort
from yurt.model.resources import DNSConfig

PROTOCOLS = ("tcp", "udp")


class GroupNetwork(msgspec.Struct, frozen=True, kw_only=True):
    """Where an allocation's tasks find each other and the world.

    `namespace` is a path, empty on the host's own network. `folder` is the agent's own, for files about
    the network; `resolv_conf` is such a file, empty where tasks use the host's.
    """

    namespace: str = ""
    hostname: str = ""
    folder: str = ""
    resolv_conf: str = ""
    status: NetworkStatus = NetworkStatus()


@runtime_checkable
class NamespaceMaker(Protocol):
    """A driver whose tasks can only join namespaces that it made itself."""

    async def create_network(self, alloc_id: str, *, hostname: str = "") -> str:
        """Make the namespace of an alloc's group, or find it; returns its path. Raises DriverError."""

    async def destroy_network(self, alloc_id: str) -> None:
        """Let go of an alloc's namespace; its tasks must have ended. Raises DriverError."""


class _Interface(msgspec.Struct):
    name: str = ""
    sandbox: str = ""


class _Address(msgspec.Struct):
    address: str = ""
    interface: int | None = None


class _Dns(msgspec.Struct):
    nameservers: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    domain: str = ""
    options: tuple[str, ...] = ()


class _Result(msgspec.Struct):
    interfaces: tuple[_Interface, ...] = ()
    ips: tuple[_Address, ...] = ()
    dns: _Dns = msgspec.field(default_factory=_Dns)


def network_status(result: dict[str, Any]) -> NetworkStatus:
    """What a network's plugins answered, as others are told; raises ValidationError for another form."""
    answer = msgspec.convert(result, _Result)
    inside = {number for number, each in enumerate(answer.interfaces) if each.sandbox}
    ips = [each for each in answer.ips if each.interface is None or each.interface in inside]
    plain = [each.address.partition("/")[0] for each in ips]
    first = ips[0].interface if ips else None
    dns = answer.dns
    return NetworkStatus(
        interface_name=answer.interfaces[first].name if first is not None else INTERFACE,
        address=next((ip for ip in plain if ":" not in ip), ""),
        address_ipv6=next((ip for ip in plain if ":" in ip), ""),
        dns=DNSConfig(servers=dns.nameservers, searches=dns.search, options=dns.options)
        if dns.nameservers or dns.search or dns.options
        else None,
    )


def port_mappings(ports: tuple[AllocatedPort, ...], *, every_address: bool) -> tuple[PortMapping, ...]:
    """What leads from the host's ports into the namespace; `every_address` of the host or the port's own."""
    return tuple(
        PortMapping(
            host_port=port.value,
            container_port=port.to if port.to > 0 else port.value,
            protocol=protocol,
            host_ip="" if every_address else port.host_ip,
        )
        for port in ports
        for protocol in PROTOCOLS
    )
