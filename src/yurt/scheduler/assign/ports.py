"""Ports on the addresses of a node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

import msgspec
from msgspec.structs import replace

from yurt.model.allocated import AllocatedPort
from yurt.model.node import Node
from yurt.model.resources import MAIN_ADDRESS, NetworkResource, Port
from yurt.scheduler.feasible.networks import DEFAULT_HOST_NETWORK, HOST
from yurt.scheduler.feasible.targets import resolve
from yurt.state.port_ranges import parse_ports
from yurt.state.use import Claim, PortClaim, SharedPortClaim

RANDOM_DRAWS_MAX = 20
SAME_AS_HOST = -1

INVALID_NODE = "network: invalid node"
NO_DYNAMIC_PORT = "network: dynamic port selection failed"


class GivenNetwork(msgspec.Struct, frozen=True):
    """The network of an allocation, and its ports."""

    network: NetworkResource
    ports: tuple[AllocatedPort, ...]


class PortMap:
    """The ports of one node: what is taken, and what can still be given."""

    def __init__(self, node: Node, held: Mapping[Claim, int]) -> None:
        self._node = node
        self._held = held
        resources = node.node_resources
        self._low, self._high = resources.min_dynamic_port, resources.max_dynamic_port
        self._reserved = parse_ports(node.reserved_resources.networks.reserved_host_ports)
        self._given: set[tuple[str, int]] = set()
        self._given_ports: set[int] = set()

    def assign(self, network: NetworkResource, rng: Random) -> GivenNetwork | str:
        """Give every port of a group's network an address and a number, or say what stands in the way."""
        if self._reserved is None:
            return INVALID_NODE
        static: list[tuple[Port, AllocatedPort]] = []
        for port in network.reserved_ports or ():
            found = self._static(port)
            if isinstance(found, str):
                return found
            static.append((port, found))
        dynamic: list[tuple[Port, AllocatedPort]] = []
        for port in network.dynamic_ports or ():
            asked = {
                other.value
                for other in network.reserved_ports or ()
                if _alias(self._node, other) == _alias(self._node, port)
            }
            found = self._dynamic(port, asked, rng)
            if isinstance(found, str):
                return found
            dynamic.append((port, found))
        given = replace(
            network,
            ip=main_address(self._node),
            reserved_ports=tuple(_numbered(port, chosen) for port, chosen in static) or None,
            dynamic_ports=tuple(_numbered(port, chosen) for port, chosen in dynamic) or None,
        )
        return GivenNetwork(given, tuple(chosen for _, chosen in (*static, *dynamic)))

    def assign_on(self, network: NetworkResource, ip: str, rng: Random) -> NetworkResource | str:
        """Give a task's own network its ports on one address, or say what stands in the way."""
        if self._reserved is None:
            return INVALID_NODE
        for port in network.reserved_ports or ():
            if not self._is_free(ip, port.value) and not port.ignore_collision:
                return f"network: reserved port collision {port.label}={port.value}"
            self._take(ip, port.value)
        dynamic = []
        for port in network.dynamic_ports or ():
            number = self._draw(ip, set(), rng)
            if number is None:
                return NO_DYNAMIC_PORT
            self._take(ip, number)
            dynamic.append(replace(port, value=number, to=number if port.to == SAME_AS_HOST else port.to))
        return replace(network, ip=ip, dynamic_ports=tuple(dynamic) or None)

    def _static(self, port: Port) -> AllocatedPort | str:
        alias = _alias(self._node, port)
        if port.host_network == MAIN_ADDRESS:
            addresses = [(main_address(self._node), set[int]())]
        else:
            addresses = list(_addresses(self._node, alias))
        if not addresses:
            return no_addresses(alias)
        for ip, reserved in addresses:
            if port.ignore_collision or self._is_free(ip, port.value, reserved):
                self._take(ip, port.value)
                return _allocated(port, ip, port.value)
        return f"network: reserved port collision {port.label}={port.value}"

    def _dynamic(self, port: Port, asked: set[int], rng: Random) -> AllocatedPort | str:
        alias = _alias(self._node, port)
        addresses = list(_addresses(self._node, alias))
        if not addresses:
            return no_addresses(alias)
        for ip, reserved in addresses:
            number = self._draw(ip, asked | reserved, rng)
            if number is not None:
                self._take(ip, number)
                return _allocated(port, ip, number)
        return NO_DYNAMIC_PORT

    def _draw(self, ip: str, avoid: set[int], rng: Random) -> int | None:
        low, high = self._low, self._high
        for _ in range(RANDOM_DRAWS_MAX if high > low else 0):
            number = low + int(rng.random() * (high - low))
            if self._is_free(ip, number) and number not in avoid and number not in self._given_ports:
                return number
        free = [
            number
            for number in range(low, high + 1)
            if self._is_free(ip, number) and number not in avoid and number not in self._given_ports
        ]
        return rng.choice(free) if free else None

    def _is_free(self, ip: str, number: int, reserved: set[int] | None = None) -> bool:
        assert self._reserved is not None, "an invalid node was turned away before"
        return not (
            PortClaim(ip, number) in self._held
            or SharedPortClaim(ip, number) in self._held
            or number in self._reserved
            or (ip, number) in self._given
            or (reserved is not None and number in reserved)
        )

    def _take(self, ip: str, number: int) -> None:
        self._given.add((ip, number))
        self._given_ports.add(number)


def no_addresses(alias: str) -> str:
    """Say that a node has no address on a host network."""
    return f"network: no addresses available for {alias} network"


def main_address(node: Node) -> str:
    """The address that a node's allocations are found at: the first of its first host network."""
    for network in node.node_resources.node_networks or ():
        if (network.mode or HOST) == HOST and network.addresses:
            return network.addresses[0].address
    for plain in node.node_resources.networks or ():
        if (plain.mode or HOST) == HOST and plain.ip:
            return plain.ip
    return ""


def _alias(node: Node, port: Port) -> str:
    return resolve(node, port.host_network) or DEFAULT_HOST_NETWORK


def _addresses(node: Node, alias: str) -> Iterator[tuple[str, set[int]]]:
    """The addresses of a host network, with the ports that are reserved on each."""
    for network in node.node_resources.node_networks or ():
        for address in network.addresses or ():
            if address.alias == alias:
                yield address.address, set(parse_ports(address.reserved_ports) or ())


def _allocated(port: Port, ip: str, number: int) -> AllocatedPort:
    return AllocatedPort(
        label=port.label,
        value=number,
        to=number if port.to == SAME_AS_HOST else port.to,
        host_ip=ip,
        ignore_collision=port.ignore_collision,
    )


def _numbered(port: Port, chosen: AllocatedPort) -> Port:
    return replace(
        port, value=chosen.value, to=chosen.to, host_network=port.host_network or DEFAULT_HOST_NETWORK
    )
