"""The computed class of a node: nodes of one class look alike to constraints."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from yurt.model.node import DeviceAttribute, Node

# Keys under this prefix differ from node to node, so they are no part of a class.
UNIQUE_PREFIX = "unique."

_encode = msgspec.msgpack.Encoder().encode


def computed_class(node: Node) -> str:
    """Hash what constraints may look at and nodes may share, as `v1:<number>`."""
    devices = [
        (device.vendor, device.type, device.name, _attributes(device.attributes or {}))
        for device in node.node_resources.devices or ()
    ]
    content = (
        node.datacenter,
        node.node_class,
        node.node_pool,
        _common(node.attributes),
        _common(node.meta or {}),
        devices,
        sorted((node.countables or {}).keys()),
    )
    digest = blake2b(_encode(content), digest_size=8).digest()
    return f"v1:{int.from_bytes(digest, 'big')}"


def _common(pairs: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted((key, value) for key, value in pairs.items() if not key.startswith(UNIQUE_PREFIX))


def _attributes(attributes: Mapping[str, DeviceAttribute]) -> list[tuple[str, Any]]:
    return sorted(
        (key, msgspec.structs.astuple(value))
        for key, value in attributes.items()
        if not key.startswith(UNIQUE_PREFIX)
    )
