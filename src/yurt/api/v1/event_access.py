"""Who may follow which events."""

from __future__ import annotations

from collections.abc import Mapping

from yurt.api.call import ALL_NAMESPACES
from yurt.model.acl.capabilities import LIST
from yurt.model.acl.permissions import Permissions

# What it takes to see the events of a topic in their namespace.
_IN_NAMESPACE: Mapping[str, str] = {
    "Job": "read-job",
    "Evaluation": "read-job",
    "Allocation": "read-job",
    "Deployment": "read-job",
    "Service": "read-job",
    "CSIPlugin": "read-job",
    "CSIVolume": "csi-read-volume",
    "HostVolume": "host-volume-read",
}
_IN_AREA: Mapping[str, str] = {"Node": "node", "Operator": "operator"}
_VARIABLE = "Variable"


def may_ask(permissions: Permissions, topic: str, namespace: str) -> bool:
    """Whether a topic may be followed in a namespace, or in all that the caller can see.

    Topics that are not known, and all topics at once, take management.
    """
    capability = _IN_NAMESPACE.get(topic)
    if capability is not None:
        if namespace == ALL_NAMESPACES:
            return permissions.allows_somewhere(capability)
        return permissions.allows(namespace, capability)
    if topic == _VARIABLE:
        return permissions.allows_variables_somewhere()
    if topic in _IN_AREA:
        return permissions.allows_area(_IN_AREA[topic], "read")
    return permissions.is_management


def may_see(permissions: Permissions, topic: str, namespace: str, key: str) -> bool:
    """Whether one event may be shown; `key` is what its topic names things by."""
    if topic == _VARIABLE:
        return permissions.allows_variable(namespace, key, LIST)
    capability = _IN_NAMESPACE.get(topic)
    if capability is not None and namespace:
        return permissions.allows(namespace, capability)
    return may_ask(permissions, topic, namespace)
