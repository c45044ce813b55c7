"""Networks: a node must offer the network mode and the host networks of a group."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.node import Node
from yurt.model.resources import MAIN_ADDRESS, NetworkResource
from yurt.model.versions import Dialect, satisfies
from yurt.scheduler.feasible.targets import resolve
from yurt.state.columns import NodeColumns

LABEL = "missing network"
HOST, BRIDGE, NONE = "host", "bridge", "none"
DEFAULT_HOST_NETWORK = "default"

# Nodes older than this have bridge networks, but do not say so.
_SILENT_BRIDGE_BELOW = "0.12.0"


def has_mode(node: Node, mode: str) -> bool:
    """Whether a node has a network of a mode."""
    wanted = mode or HOST
    if wanted == NONE:
        return True
    has = node.node_resources
    modes = {network.mode or HOST for network in has.node_networks or ()}
    modes |= {network.mode or HOST for network in has.networks or ()}
    if wanted in modes:
        return True
    version = node.attributes.get("nomad.version", "")
    return wanted == BRIDGE and satisfies(version, f"< {_SILENT_BRIDGE_BELOW}", Dialect.SEMVER)


def has_host_network(node: Node, host_network: str) -> bool:
    """Whether a node has an address on a host network, which may be named by a target."""
    alias = resolve(node, host_network)
    return alias is not None and any(
        address.alias == alias
        for network in node.node_resources.node_networks or ()
        for address in network.addresses or ()
    )


def network_rules(columns: NodeColumns, group: TaskGroup) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Masks of the nodes that offer what the group's network needs, with the label of each rule."""
    if not group.networks:
        return
    network = group.networks[0]
    yield LABEL, _nodes_with_mode(columns, network.mode)
    if (network.mode or HOST) == NONE:
        return
    for label, host_network in named_host_networks(network):
        text = f'missing host network "{host_network}" for port "{label}"'
        yield text, _nodes_on_host_network(columns, host_network)


def named_host_networks(network: NetworkResource) -> Iterator[tuple[str, str]]:
    """The ports of a network that name a host network, with that name."""
    for port in (*(network.reserved_ports or ()), *(network.dynamic_ports or ())):
        if port.host_network not in ("", MAIN_ADDRESS):
            yield port.label, port.host_network


def _nodes_with_mode(columns: NodeColumns, mode: str) -> NDArray[np.bool_]:
    key = ("network mode", mode)
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is not None:
        return known
    mask = np.fromiter((node is not None and has_mode(node, mode) for node in columns.nodes), dtype=np.bool_)
    columns.keep(key, mask)
    return mask


def _nodes_on_host_network(columns: NodeColumns, host_network: str) -> NDArray[np.bool_]:
    key = ("host network", host_network)
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is not None:
        return known
    mask = np.fromiter(
        (node is not None and has_host_network(node, host_network) for node in columns.nodes), dtype=np.bool_
    )
    columns.keep(key, mask)
    return mask
