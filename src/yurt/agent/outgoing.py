"""Whom the agent does not talk to on behalf of jobs, whatever names and redirects lead there."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from functools import lru_cache
from typing import Any, TypeAlias

from yurt.import_later import aiohttp

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


class AddressDenied(OSError):
    """The address is one that jobs must not make the agent talk to."""

    def __init__(self, host: str) -> None:
        super().__init__(
            0, f"{host} is in a network that this node does not reach for jobs (client.denied_networks)"
        )


@lru_cache(maxsize=8)
def networks_of(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Read networks such as `10.0.0.0/8`. Raises ValueError."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def connector(denied: tuple[Network, ...], *, tls: ssl.SSLContext | bool = True) -> aiohttp.TCPConnector:
    """Connections for one call; each address is checked as it is connected to, those of redirects, too."""

    def make_socket(address: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, place = address
        check_address(str(place[0]), denied)
        return socket.socket(family, kind, protocol)

    return aiohttp.TCPConnector(force_close=True, ssl=tls, socket_factory=make_socket)


def check_address(text: str, denied: tuple[Network, ...]) -> None:
    """Check one IP address. Raises AddressDenied."""
    address = ipaddress.ip_address(text.partition("%")[0])
    # The same IPv4 address has another form among those of IPv6.
    mapped = getattr(address, "ipv4_mapped", None) or address
    if any(mapped in network for network in denied if network.version == mapped.version):
        raise AddressDenied(text)


async def check_host(host: str, denied: tuple[Network, ...]) -> None:
    """Check all addresses of a name, where another program will connect. Raises AddressDenied.

    A name that cannot be found is that program's to report.
    """
    if not denied:
        return
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror:
        return
    for *_, place in found:
        check_address(str(place[0]), denied)
