"""Network interfaces, and the addresses tasks can be given ports on."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from yurt.agent.fingerprint.addresses import IPAddress, addresses_by_device
from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.errors import YurtError
from yurt.model.node import HostNetwork, NodeNetworkAddress, NodeNetworkResource
from yurt.model.resources import NetworkResource

DEFAULT_ALIAS = "default"
# Virtual interfaces tell no speed; this is what job files have always been able to count on.
UNKNOWN_SPEED_MBITS = 1000

_ROUTE_UP = 0x1
_NO_MAC = "00:00:00:00:00:00"
_NO_LINK_LOCAL_OPTION = "fingerprint.network.disallow_link_local"


class InterfaceNotFound(YurtError):
    """The configured network interface does not exist or has no address."""

    def __init__(self, name: str, *, found: Sequence[str]) -> None:
        super().__init__(
            f"network_interface {name!r} has no usable address; interfaces with addresses: {', '.join(found)}"
        )
        self.name = name


class BadHostNetwork(YurtError):
    """A configured host network whose subnet cannot be read."""

    def __init__(self, name: str, *, cidr: str) -> None:
        super().__init__(f"host_network {name!r}: cidr {cidr!r} is not a subnet such as 10.0.0.0/8")
        self.name = name


def fingerprint_network(probe: Probe) -> Facts:
    """Offer the addresses of the default interface, and those of configured host networks."""
    settings = probe.settings
    by_device = addresses_by_device()
    device = settings.network_interface or _default_device(probe, by_device)
    allow_link_local = settings.options.get(_NO_LINK_LOCAL_OPTION, "false").lower() != "true"
    addresses = _offered(by_device.get(device, []), allow_link_local=allow_link_local)
    if settings.network_interface and not addresses:
        raise InterfaceNotFound(device, found=sorted(by_device))

    aliases = {device: [_offer(address, DEFAULT_ALIAS, "") for address in addresses]} if addresses else {}
    for name, network in settings.host_networks.items():
        for matched_device, address in _matching(network, by_device):
            offer = _offer(address, name, network.reserved_ports)
            aliases.setdefault(matched_device, []).append(offer)

    attributes = {}
    if addresses:
        preferred = _preferred(addresses, settings.preferred_address_family)
        attributes["unique.network.ip-address"] = str(preferred)
    speed = settings.network_speed_mbits or _speed(probe, device)
    return Facts(
        attributes=attributes,
        node_networks=tuple(
            NodeNetworkResource(
                mode="host",
                device=name,
                mac_address=_mac(probe, name),
                speed=settings.network_speed_mbits or _speed(probe, name),
                addresses=tuple(offers),
            )
            for name, offers in aliases.items()
        ),
        networks=tuple(
            NetworkResource(
                mode="host",
                device=device,
                cidr=f"{address}/{address.max_prefixlen}",
                ip=str(address),
                mbits=speed,
            )
            for address in addresses
        ),
    )


def _default_device(probe: Probe, by_device: dict[str, list[IPAddress]]) -> str:
    """The interface of the cheapest default route, else the first that is not the loopback."""
    routes = []
    for line in probe.text("/proc/net/route").splitlines()[1:]:
        fields = line.split()
        is_default = len(fields) > 7 and fields[1] == "00000000" and fields[7] == "00000000"
        if is_default and int(fields[3], 16) & _ROUTE_UP:
            routes.append((int(fields[6]), fields[0]))
    for line in probe.text("/proc/net/ipv6_route").splitlines():
        fields = line.split()
        is_default = len(fields) > 9 and fields[0] == "0" * 32 and fields[1] == "00"
        if is_default and fields[9] in by_device and fields[9] != "lo":
            # IPv4 routes come first: their metrics are on another scale.
            routes.append((1 << 32 | int(fields[5], 16), fields[9]))
    if routes:
        return min(routes)[1]
    return next((device for device in by_device if device != "lo"), "lo")


def _offered(addresses: Sequence[IPAddress], *, allow_link_local: bool) -> list[IPAddress]:
    """Link-local addresses are offered only where there is nothing else."""
    routable = [address for address in addresses if not address.is_link_local]
    if routable or not allow_link_local:
        return routable
    return list(addresses)


def _preferred(addresses: Sequence[IPAddress], family: str) -> IPAddress:
    version = {"ipv4": 4, "ipv6": 6}.get(family)
    return next((address for address in addresses if address.version == version), addresses[0])


def _matching(network: HostNetwork, by_device: dict[str, list[IPAddress]]) -> list[tuple[str, IPAddress]]:
    try:
        subnet = ipaddress.ip_network(network.cidr, strict=False) if network.cidr else None
    except ValueError as error:
        raise BadHostNetwork(network.name, cidr=network.cidr) from error
    return [
        (device, address)
        for device, addresses in by_device.items()
        if network.interface in ("", device)
        for address in addresses
        if (address in subnet if subnet else network.interface and not address.is_link_local)
    ]


def _offer(address: IPAddress, alias: str, reserved_ports: str) -> NodeNetworkAddress:
    return NodeNetworkAddress(
        family=f"ipv{address.version}", alias=alias, address=str(address), reserved_ports=reserved_ports
    )


def _speed(probe: Probe, device: str) -> int:
    return probe.number(f"/sys/class/net/{device}/speed") or UNKNOWN_SPEED_MBITS


def _mac(probe: Probe, device: str) -> str:
    address = probe.text(f"/sys/class/net/{device}/address")
    return "" if address == _NO_MAC else address
