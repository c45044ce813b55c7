"""A registration of the simple dialect as a node of the model."""

from __future__ import annotations

import ipaddress

from yurt.model.node import (
    NODE_READY,
    Node,
    NodeCpu,
    NodeDisk,
    NodeMemory,
    NodeNetworkAddress,
    NodeNetworkResource,
    NodeResources,
)
from yurt.model.push_nodes import (
    ENDPOINT_LINK,
    NODE_ID_ATTRIBUTE,
    PUSH_ATTRIBUTE,
    node_key,
    with_health,
)
from yurt.model.simple.push_messages import Registration

# Push nodes say nothing about their disks, so they are not judged by them.
PUSH_DISK_MB = 1_000_000_000


def push_node(said: Registration, *, datacenter: str, secret_id: str) -> Node:
    """A push node as it registers: what is free and what is in use together are all it has."""
    amounts = said.resources
    node = Node(
        id=node_key(said.node_id),
        secret_id=secret_id,
        name=said.node_id,
        datacenter=datacenter,
        status=NODE_READY,
        links={ENDPOINT_LINK: said.endpoint.rstrip("/")},
        attributes={
            PUSH_ATTRIBUTE: "true",
            NODE_ID_ATTRIBUTE: said.node_id,
            "unique.network.ip-address": said.ip_address,
            # Agents of this dialect end processes with no other.
            "os.signals": "SIGTERM",
        },
        node_resources=NodeResources(
            cpu=NodeCpu(cpu_shares=int(amounts.cpu + amounts.cpu_used)),
            memory=NodeMemory(memory_mb=int(amounts.memory + amounts.memory_used)),
            disk=NodeDisk(disk_mb=PUSH_DISK_MB),
            node_networks=(_network(said.ip_address),),
        ),
    )
    return with_health(node, healthy=said.healthy)


def _network(ip_address: str) -> NodeNetworkResource:
    try:
        family = f"ipv{ipaddress.ip_address(ip_address).version}"
    except ValueError:
        family = "ipv4"
    address = NodeNetworkAddress(family=family, alias="default", address=ip_address)
    return NodeNetworkResource(mode="host", addresses=(address,))
