"""What a search may look at."""

from __future__ import annotations

from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.errors import HttpError
from yurt.api.needs import PERMISSION_DENIED
from yurt.model.acl.capabilities import LIST
from yurt.model.acl.permissions import Permissions
from yurt.model.policies import ScalingPolicy
from yurt.model.variable import VariableKey

_READ_JOBS = frozenset(("allocs", "jobs", "evals", "deployment"))
_SEE_VOLUMES = ("csi-list-volume", "csi-read-volume", "list-jobs", "read-job")
_SEE_POLICIES = ("list-scaling-policies", "read-job")


def allowed_contexts(call: Call, asked: tuple[str, ...]) -> tuple[str, ...]:
    """The contexts that the caller may search. Raises HttpError if it asks for one alone and may not."""
    allowed = tuple(context for context in asked if _may_search(call.permissions, context, call.namespace))
    if not allowed and len(asked) == 1:
        raise HttpError(*PERMISSION_DENIED)
    return allowed


def _may_search(permissions: Permissions, context: str, namespace: str) -> bool:
    def in_namespace(*any_of: str) -> bool:
        if namespace == ALL_NAMESPACES:
            return permissions.allows_somewhere(*any_of)
        return permissions.allows(namespace, *any_of)

    if context in _READ_JOBS:
        return in_namespace("read-job")
    rest = {
        "nodes": lambda: permissions.allows_area("node", "read"),
        "node_pools": lambda: permissions.allows_node_pools_somewhere("read"),
        "plugins": lambda: permissions.allows_area("plugin", "list"),
        "volumes": lambda: in_namespace(*_SEE_VOLUMES),
        "host_volumes": lambda: in_namespace("host-volume-read"),
        "scaling_policy": lambda: in_namespace(*_SEE_POLICIES),
        "vars": permissions.allows_variables_somewhere,
        "namespaces": permissions.sees_any_namespace,
    }
    return rest[context]()


class Scope:
    """What of each kind a search may show: what is in the namespace that is asked for, and permitted."""

    def __init__(self, call: Call) -> None:
        self._permissions = call.permissions
        self._namespace = call.namespace

    def has(self, namespace: str) -> bool:
        """Whether jobs and what belongs to them may be shown."""
        return self._is_meant(namespace) and self._permissions.allows(namespace, "read-job")

    def has_policy(self, policy: ScalingPolicy) -> bool:
        """Whether a scaling policy may be shown."""
        namespace = (policy.target or {}).get("Namespace", "")
        return self._is_meant(namespace) and self._permissions.allows(namespace, *_SEE_POLICIES)

    def has_host_volume(self, namespace: str) -> bool:
        """Whether the host volumes of a namespace may be shown."""
        return self._is_meant(namespace) and self._permissions.allows(namespace, "host-volume-read")

    def has_namespace(self, namespace: str) -> bool:
        """Whether a namespace itself may be shown."""
        return self._permissions.sees_namespace(namespace)

    def has_variable(self, key: VariableKey) -> bool:
        """Whether a variable may be shown."""
        return self._is_meant(key.namespace) and self._permissions.allows_variable(*key, LIST)

    def has_node_pool(self, pool: str) -> bool:
        """Whether a node pool may be shown."""
        return self._permissions.allows_node_pool(pool, "read")

    def _is_meant(self, namespace: str) -> bool:
        return self._namespace in (ALL_NAMESPACES, namespace)
