"""The capabilities that rules grant, and what their short forms stand for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DENY = "deny"
READ = "read"
WRITE = "write"
SCALE = "scale"
LIST = "list"
DESTROY = "destroy"

_READ_IN_NAMESPACE = (
    "list-jobs",
    "parse-job",
    "read-job",
    "csi-list-volume",
    "csi-read-volume",
    "read-job-scaling",
    "list-scaling-policies",
    "read-scaling-policy",
    "host-volume-read",
)
_WRITE_IN_NAMESPACE = (
    *_READ_IN_NAMESPACE,
    "scale-job",
    "submit-job",
    "dispatch-job",
    "read-logs",
    "read-fs",
    "alloc-exec",
    "alloc-lifecycle",
    "csi-mount-volume",
    "csi-write-volume",
    "submit-recommendation",
    "host-volume-create",
)
_SCALE_IN_NAMESPACE = (
    "list-scaling-policies",
    "read-scaling-policy",
    "read-job-scaling",
    "scale-job",
    "read-job",
    "submit-recommendation",
)

# What a `policy` stands for; the order is the one in which the API lists it.
NAMESPACE_POLICIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        DENY: (DENY,),
        READ: _READ_IN_NAMESPACE,
        WRITE: _WRITE_IN_NAMESPACE,
        SCALE: _SCALE_IN_NAMESPACE,
    }
)
NODE_POOL_POLICIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {DENY: (DENY,), READ: (READ,), WRITE: ("delete", READ, WRITE)}
)
HOST_VOLUME_POLICIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {DENY: (DENY,), READ: ("mount-readonly",), WRITE: ("mount-readonly", "mount-readwrite")}
)
OPERATOR_POLICIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        DENY: (DENY,),
        READ: ("license-read", "keyring-read"),
        WRITE: ("snapshot-save", "license-read", "keyring-rotate", "keyring-read", "keyring-delete"),
    }
)
SENTINEL_POLICIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {DENY: (DENY,), READ: ("sentinel-read",), WRITE: ("sentinel-read", "sentinel-submit", "sentinel-delete")}
)

NAMESPACE_CAPABILITIES = frozenset(
    (
        DENY,
        *_WRITE_IN_NAMESPACE,
        *_SCALE_IN_NAMESPACE,
        "alloc-node-exec",
        "sentinel-override",
        "csi-register-plugin",
        "host-volume-register",
        "host-volume-write",
        "host-volume-delete",
        "register-job",
        "revert-job",
        "deregister-job",
        "purge-job",
        "evaluate-job",
        "plan-job",
        "tag-job-version",
        "stable-job",
        "fail-deployment",
        "pause-deployment",
        "promote-deployment",
        "unblock-deployment",
        "cancel-deployment",
        "set-alloc-health-deployment",
        "gc-allocation",
        "pause-allocation",
        "force-periodic-job",
        "delete-service-registration",
    )
)
VARIABLE_CAPABILITIES = frozenset((LIST, READ, WRITE, DESTROY, DENY))
NODE_POOL_CAPABILITIES = frozenset((DENY, READ, WRITE, "delete"))
HOST_VOLUME_CAPABILITIES = frozenset((DENY, "mount-readonly", "mount-readwrite"))
OPERATOR_CAPABILITIES = frozenset((DENY, *OPERATOR_POLICIES[WRITE]))
SENTINEL_CAPABILITIES = frozenset((DENY, *SENTINEL_POLICIES[WRITE]))

# What having one capability of a namespace brings with it.
IMPLIED_IN_NAMESPACE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "host-volume-write": (
            "host-volume-register",
            "host-volume-create",
            "host-volume-delete",
            "host-volume-read",
        ),
        "host-volume-register": ("host-volume-create", "host-volume-read"),
        "host-volume-create": ("host-volume-read",),
    }
)

# The words for a whole area, weakest first; `deny` beats them all.
LEVELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "agent": (READ, WRITE),
        "node": (READ, WRITE),
        "operator": (READ, WRITE),
        "quota": (READ, WRITE),
        "plugin": (LIST, READ, WRITE),
        "sentinel": (READ, WRITE),
    }
)


def namespace_capabilities(policy: str, given: tuple[str, ...]) -> tuple[str, ...]:
    """All that a rule about a namespace grants, in the order that the API lists it."""
    granted = (*given, *NAMESPACE_POLICIES.get(policy, ()))
    implied = (more for one in granted for more in IMPLIED_IN_NAMESPACE.get(one, ()))
    return (*granted, *implied)
