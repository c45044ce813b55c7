"""How model Structs are named and shaped on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import NewType, TypeAlias

import msgspec

AllocID = NewType("AllocID", str)
DeploymentID = NewType("DeploymentID", str)
EvalID = NewType("EvalID", str)
JobID = NewType("JobID", str)
NodeID = NewType("NodeID", str)

Nanoseconds: TypeAlias = int
"""A duration or a Unix time, in nanoseconds."""

Time: TypeAlias = str | None
"""RFC 3339 text with nanoseconds, or None for the zero time. See `yurt.model.times`."""

DEFAULT_NAMESPACE = "default"
DEFAULT_NODE_POOL = "default"
ALL_NODE_POOL = "all"

_ACRONYMS = {
    "acl": "ACL",
    "cidr": "CIDR",
    "cni": "CNI",
    "cpu": "CPU",
    "csi": "CSI",
    "dns": "DNS",
    "gc": "GC",
    "grpc": "GRPC",
    "http": "HTTP",
    "id": "ID",
    "ids": "IDs",
    "iops": "IOPS",
    "ip": "IP",
    "ltarget": "LTarget",
    "mb": "MB",
    "mbits": "MBits",
    "numa": "NUMA",
    "rtarget": "RTarget",
    "tg": "TG",
    "tls": "TLS",
    "ttl": "TTL",
    "ui": "UI",
}


def wire_name(field: str) -> str:
    """Give a snake_case field Nomad's JSON name: `job_id` becomes `JobID`."""
    return "".join(_ACRONYMS.get(word) or word[:1].upper() + word[1:] for word in field.split("_"))


def wire_names(**exceptions: str) -> Callable[[str], str]:
    """Make a `rename` for a Struct some of whose fields do not follow `wire_name`."""

    def rename(field: str) -> str:
        return exceptions.get(field) or wire_name(field)

    return rename


class Wire(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename=wire_name):
    """A value of the API: immutable, with Nomad's JSON names, every member present."""


class SparseWire(Wire, frozen=True, kw_only=True, gc=False, rename=wire_name, omit_defaults=True):
    """A value of the API whose empty members are left out."""
