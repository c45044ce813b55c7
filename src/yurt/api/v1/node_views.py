"""Nodes as the API shows them."""

from __future__ import annotations

from typing import Any

import msgspec

from yurt.model.node import (
    DrainMetadata,
    DriverInfo,
    HostVolume,
    Node,
    NodeReservedResources,
    NodeResources,
)
from yurt.model.wire import Wire


class NodeListStub(Wire, frozen=True, kw_only=True):
    """A node in short."""

    address: str
    id: str
    attributes: dict[str, str] | None
    datacenter: str
    name: str
    node_pool: str
    node_class: str
    version: str
    drain: bool
    scheduling_eligibility: str
    status: str
    status_description: str
    drivers: dict[str, DriverInfo] | None
    host_volumes: dict[str, HostVolume] | None
    node_resources: NodeResources | None
    reserved_resources: NodeReservedResources | None
    last_drain: DrainMetadata | None
    create_index: int
    modify_index: int


def node_view(node: Node, *, signing_key_id: str = "") -> dict[str, Any]:
    """Show a whole node; its secret never leaves the servers.

    `signing_key_id` is the key of its identity if it was not renewed yet.
    """
    view: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(node, secret_id=""))
    view["IdentitySigningKeyID"] = node.identity_signing_key_id or signing_key_id
    view["Drain"] = node.drain_strategy is not None
    if not node.countables:
        del view["Countables"]
    return view


def node_stub(node: Node, *, with_resources: bool = False, with_os: bool = False) -> NodeListStub:
    """Show a node in short."""
    return NodeListStub(
        address=node.http_addr.rpartition(":")[0],
        id=node.id,
        attributes={"os.name": node.attributes.get("os.name", "")} if with_os else None,
        datacenter=node.datacenter,
        name=node.name,
        node_pool=node.node_pool,
        node_class=node.node_class,
        version=node.attributes.get("nomad.version", ""),
        drain=node.drain_strategy is not None,
        scheduling_eligibility=node.scheduling_eligibility,
        status=node.status,
        status_description=node.status_description,
        drivers=node.drivers,
        host_volumes=node.host_volumes,
        node_resources=node.node_resources if with_resources else None,
        reserved_resources=node.reserved_resources if with_resources else None,
        last_drain=node.last_drain,
        create_index=node.create_index,
        modify_index=node.modify_index,
    )
