"""The machine's IP addresses by interface, asked from the kernel over netlink."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# From linux/rtnetlink.h and linux/netlink.h.
_RTM_NEWADDR = 20
_RTM_GETADDR = 22
_NLMSG_ERROR = 2
_NLMSG_DONE = 3
_REQUEST_DUMP = 0x301
_IFA_ADDRESS = 1
_IFA_LOCAL = 2
_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_ADDRESS = struct.Struct("=BBBBI")  # family, prefix length, flags, scope, interface index
_ATTRIBUTE = struct.Struct("=HH")  # length, type
_ANSWER_BYTES_MAX = 1 << 16


def addresses_by_device() -> dict[str, list[IPAddress]]:
    """List each interface's addresses, IPv4 before IPv6. Raises OSError where netlink is not to be had."""
    by_device: dict[str, list[IPAddress]] = {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        for family in (socket.AF_INET, socket.AF_INET6):
            body = _ADDRESS.pack(family, 0, 0, 0, 0)
            kernel.send(_HEADER.pack(_HEADER.size + len(body), _RTM_GETADDR, _REQUEST_DUMP, 1, 0) + body)
            for message in _dump(kernel):
                index = _ADDRESS.unpack_from(message)[4]
                if address := _address(message):
                    by_device.setdefault(socket.if_indextoname(index), []).append(address)
    return by_device


def _dump(kernel: socket.socket) -> list[bytes]:
    """Read one answer to its end: the bodies of its address messages."""
    messages: list[bytes] = []
    while True:
        answer = kernel.recv(_ANSWER_BYTES_MAX)
        while answer:
            length, kind = _HEADER.unpack_from(answer)[:2]
            if kind == _NLMSG_DONE:
                return messages
            if kind == _NLMSG_ERROR:
                code = -struct.unpack_from("=i", answer, _HEADER.size)[0]
                raise OSError(code, os.strerror(code))
            if kind == _RTM_NEWADDR:
                messages.append(answer[_HEADER.size : length])
            answer = answer[_aligned(length) :]


def _address(message: bytes) -> IPAddress | None:
    """The interface's own address; on point-to-point links `_IFA_ADDRESS` is the other end's."""
    found: dict[int, bytes] = {}
    at = _ADDRESS.size
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        found[kind] = message[at + _ATTRIBUTE.size : at + length]
        at += _aligned(length)
    packed = found.get(_IFA_LOCAL) or found.get(_IFA_ADDRESS)
    return ipaddress.ip_address(packed) if packed else None


def _aligned(length: int) -> int:
    return length + 3 & ~3
