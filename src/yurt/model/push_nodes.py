"""Push nodes: machines without Yurt's agent, to whose endpoint the servers deliver work."""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import urlsplit

from msgspec.structs import replace

from yurt.model.group import TaskGroup
from yurt.model.node import DriverInfo, Node
from yurt.model.task import Task
from yurt.model.wire import NodeID

# An operand: true on a node that says so, and on a push node that says nothing about it.
DECLARED_AS = "declared_as"
PUSH_ATTRIBUTE = "yurt.push"
NODE_ID_ATTRIBUTE = "unique.node_id"
ENDPOINT_LINK = "push"
PUSH_DRIVERS = ("raw_exec", "docker")
NODE_ID_CHARS_MAX = 256
ENDPOINT_CHARS_MAX = 2048

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")


def is_push_node(node: Node) -> bool:
    """Whether the servers deliver work to a node."""
    return ENDPOINT_LINK in (node.links or {})


def endpoint_of(node: Node) -> str:
    """Where a push node takes its work; it must be one."""
    return (node.links or {})[ENDPOINT_LINK]


def public_node_id(node: Node) -> str:
    """The id by which the simple dialect knows a node."""
    return node.attributes.get(NODE_ID_ATTRIBUTE, node.id)


def node_key(node_id: str) -> NodeID:
    """The id of a node in State: ids that are no UUIDs become one, always the same."""
    if _UUID.fullmatch(node_id):
        return NodeID(node_id)
    text = blake2b(node_id.encode(), digest_size=16, person=b"yurt push node").hexdigest()
    return NodeID(f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}")


def endpoint_problem(endpoint: str) -> str:
    """What is wrong with an endpoint; empty if it is http or https with a host."""
    if len(endpoint) > ENDPOINT_CHARS_MAX or _UNPRINTABLE.search(endpoint):
        return f"must be a URL without blanks, of at most {ENDPOINT_CHARS_MAX} characters"
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError as error:
        return f"is not a URL: {error}"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return "must be http:// or https:// with a host, such as http://10.0.0.7:8501"
    if parts.query or parts.fragment or parts.username is not None:
        return "must be without user, query and fragment"
    return ""


def with_health(node: Node, *, healthy: bool) -> Node:
    """A push node that can take new work, or cannot: what it has goes on."""
    said = "Healthy" if healthy else "The node says that it is not healthy"
    info = DriverInfo(detected=True, healthy=healthy, health_description=said)
    return replace(node, drivers=dict.fromkeys(PUSH_DRIVERS, info))


def says_healthy(node: Node) -> bool:
    """Whether a push node last said that it is healthy."""
    return all(info.healthy for info in (node.drivers or {}).values())


def suits_push_nodes(group: TaskGroup) -> bool:
    """Whether a push node can run a group: nothing but plain processes and containers with fixed ports."""
    networks = group.networks or ()
    return (
        not (group.volumes or group.services or group.consul or group.ephemeral_disk.sticky)
        and all(network.mode in ("", "host") and not network.dynamic_ports for network in networks)
        and all(map(_suits, group.tasks))
    )


def _suits(task: Task) -> bool:
    resources = task.resources
    return task.driver in PUSH_DRIVERS and not (
        task.user
        or task.env
        or task.services
        or task.vault
        or task.secrets
        or task.consul
        or task.templates
        or task.artifacts
        or task.dispatch_payload
        or task.lifecycle
        or task.volume_mounts
        or task.csi_plugin_config
        or task.identities
        or resources.cores
        or resources.devices
        or resources.networks
    )
