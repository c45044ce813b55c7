"""Functions on IP address ranges."""

import ipaddress
from typing import TypeAlias

from yurt.jobspec.hcl.function import ArgumentError, CallError, Parameter, Registry
from yurt.jobspec.hcl.numbers import Number
from yurt.jobspec.hcl.values import NUMBER, STRING, ListValue

FUNCTIONS = Registry()

_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_PREFIX = Parameter("prefix", STRING)
_NEWBITS = Parameter("newbits", NUMBER)


@FUNCTIONS.add("cidrhost", _PREFIX, Parameter("hostnum", NUMBER))
def _cidrhost(prefix: str, host: Number) -> str:
    network = _network(prefix)
    number = _whole(host, 1)
    size = network.num_addresses
    if not -size <= number < size:
        raise CallError(f"prefix of {network.prefixlen} does not accommodate a host numbered {number}")
    return str(network[number])


@FUNCTIONS.add("cidrnetmask", _PREFIX)
def _cidrnetmask(prefix: str) -> str:
    return str(_network(prefix).netmask)


@FUNCTIONS.add("cidrsubnet", _PREFIX, _NEWBITS, Parameter("netnum", NUMBER))
def _cidrsubnet(prefix: str, newbits: Number, netnum: Number) -> str:
    network = _network(prefix)
    bits, number = _whole(newbits, 1), _whole(netnum, 2)
    _check_room(network, bits)
    if not 0 <= number < 1 << bits:
        raise CallError(f"prefix extension of {bits} does not accommodate a subnet numbered {number}")
    return str(_subnet(network, bits, number << (_width(network) - network.prefixlen - bits)))


@FUNCTIONS.add("cidrsubnets", _PREFIX, rest=_NEWBITS)
def _cidrsubnets(prefix: str, *newbits: Number) -> ListValue:
    network = _network(prefix)
    subnets = []
    offset = 0  # addresses from the start of the network that are taken
    for index, wish in enumerate(newbits, 1):
        bits = _whole(wish, index)
        if bits < 1:
            raise ArgumentError(index, "must extend prefix by at least one bit")
        _check_room(network, bits)
        size = 1 << (_width(network) - network.prefixlen - bits)
        offset = (offset + size - 1) // size * size
        if offset + size > network.num_addresses:
            raise ArgumentError(
                index, f"not enough remaining address space for a subnet with {bits} more bits"
            )
        subnets.append(str(_subnet(network, bits, offset)))
        offset += size
    return ListValue(tuple(subnets), STRING)


def _network(prefix: str) -> _Network:
    if "/" not in prefix:
        raise CallError(f"invalid CIDR expression: invalid CIDR address: {prefix}")
    try:
        return ipaddress.ip_network(prefix, strict=False)
    except ValueError:
        raise CallError(f"invalid CIDR expression: invalid CIDR address: {prefix}") from None


def _subnet(network: _Network, bits: int, offset: int) -> _Network:
    address = type(network.network_address)(int(network.network_address) + offset)
    return ipaddress.ip_network(f"{address}/{network.prefixlen + bits}")


def _width(network: _Network) -> int:
    return network.max_prefixlen


def _check_room(network: _Network, bits: int) -> None:
    if bits < 0 or network.prefixlen + bits > _width(network):
        raise CallError(f"insufficient address space to extend prefix of {network.prefixlen} by {bits}")


def _whole(number: Number, index: int) -> int:
    if not isinstance(number, int):
        raise ArgumentError(index, "a whole number is required")
    return number
