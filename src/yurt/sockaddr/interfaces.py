"""The network interfaces of this machine."""

import ipaddress
import socket
from pathlib import Path
from typing import TypeAlias

import msgspec
import psutil  # type: ignore[import-untyped]  # it comes without types

IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_ROUTES_V4 = Path("/proc/net/route")
_ROUTES_V6 = Path("/proc/net/ipv6_route")
_ROUTE_UP = 0x1


class InterfaceAddress(msgspec.Struct, frozen=True, kw_only=True):
    """One address of one interface."""

    interface: str
    address: IPAddress
    prefix_length: int
    is_up: bool = True
    is_default: bool = False
    """Whether the default route leads through the interface."""


def read_interfaces() -> tuple[InterfaceAddress, ...]:
    """All IP addresses of this machine, in the order in which the system lists them."""
    states = psutil.net_if_stats()
    defaults = _default_interfaces()
    return tuple(
        InterfaceAddress(
            interface=name,
            # IPv6 link-local addresses carry their interface after a "%".
            address=ipaddress.ip_address(found.address.partition("%")[0]),
            prefix_length=_prefix_length(found.netmask),
            is_up=name in states and states[name].isup,
            is_default=name in defaults,
        )
        for name, addresses in psutil.net_if_addrs().items()
        for found in addresses
        if found.family in (socket.AF_INET, socket.AF_INET6)
    )


def _prefix_length(netmask: str | None) -> int:
    return int(ipaddress.ip_address(netmask)).bit_count() if netmask else 0


def _default_interfaces() -> frozenset[str]:
    """Interfaces of default routes; none where the system does not list its routes as Linux does."""
    found = set()
    for line in _lines(_ROUTES_V4)[1:]:
        interface, destination, _gateway, flags, *_ = line.split()
        if destination == "00000000" and int(flags, 16) & _ROUTE_UP:
            found.add(interface)
    for line in _lines(_ROUTES_V6):
        destination, length, *_, interface = line.split()
        if not destination.strip("0") and length == "00" and interface != "lo":
            found.add(interface)
    return frozenset(found)


def _lines(file: Path) -> list[str]:
    try:
        return [line for line in file.read_text().splitlines() if line]
    except OSError:
        return []
