"""Devices: a node must have healthy devices of the kinds a group asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.node import Node, NodeDevice, NodeDeviceResource
from yurt.model.resources import RequestedDevice
from yurt.scheduler.feasible.device_attributes import device_holds, resolve_device
from yurt.state.columns import NodeColumns

LABEL = "missing devices"

# A countable resource is offered as a device of this vendor, with the resource's name as its type.
COUNTABLE_VENDOR = "countable"
_IDS = "${device.ids}"


def node_devices(node: Node) -> Sequence[NodeDeviceResource]:
    """The devices of a node, its countable resources among them."""
    devices = node.node_resources.devices or ()
    if not node.countables:
        return devices
    return (
        *devices,
        *(
            NodeDeviceResource(
                vendor=COUNTABLE_VENDOR,
                type=name,
                name=name,
                instances=tuple(NodeDevice(id=str(number), healthy=True) for number in range(count)),
            )
            for name, count in sorted(node.countables.items())
        ),
    )


def requested_devices(group: TaskGroup) -> list[RequestedDevice]:
    """What the tasks of a group ask for, in the order of the tasks."""
    return [request for task in group.tasks for request in task.resources.devices or ()]


def is_named(vendor: str, kind: str, name: str, request: RequestedDevice) -> bool:
    """Whether devices are of the kind a request names: by type, vendor/type or vendor/type/name."""
    parts = tuple(request.name.split("/", 2))
    return parts in ((kind,), (vendor, kind), (vendor, kind, name))


def matches(device: NodeDeviceResource, request: RequestedDevice) -> bool:
    """Whether a group of devices is of the kind a request names, and meets its constraints.

    Constraints on `${device.ids}` choose between instances, not between groups; see `usable_ids`.
    """
    return is_named(device.vendor, device.type, device.name, request) and all(
        device_holds(
            resolve_device(device, rule.ltarget, ()), rule.operand, resolve_device(device, rule.rtarget, ())
        )
        for rule in request.constraints or ()
        if _IDS not in (rule.ltarget, rule.rtarget)
    )


def usable_ids(device: NodeDeviceResource, request: RequestedDevice) -> list[str]:
    """The healthy instances of a matching group that a request's constraints on ids leave."""
    rules = [rule for rule in request.constraints or () if _IDS in (rule.ltarget, rule.rtarget)]
    return [
        instance.id
        for instance in device.instances or ()
        if instance.healthy
        and all(
            device_holds(
                resolve_device(device, rule.ltarget, (instance.id,)),
                rule.operand,
                resolve_device(device, rule.rtarget, (instance.id,)),
            )
            for rule in rules
        )
    ]


def has_devices(node: Node, requests: Sequence[RequestedDevice]) -> bool:
    """Whether a node has enough healthy devices for all requests, used or not.

    Here one request may be served from several groups; assigning is stricter.
    """
    devices = node_devices(node)
    left = [sum(instance.healthy for instance in device.instances or ()) for device in devices]
    for request in requests:
        missing = request.count
        for position, device in enumerate(devices):
            if missing and left[position] and matches(device, request):
                taken = min(left[position], missing)
                left[position] -= taken
                missing -= taken
        if missing:
            return False
    return True


def nodes_with_devices(columns: NodeColumns, group: TaskGroup) -> NDArray[np.bool_] | None:
    """Mask of the nodes with the devices of a group; None if it asks for none."""
    requests = requested_devices(group)
    if not requests:
        return None
    key = ("devices", *((request.name, request.count, request.constraints) for request in requests))
    known: NDArray[np.bool_] | None = columns.memo.get(key)
    if known is not None:
        return known
    mask = np.fromiter(
        (
            node is not None
            and bool(node.node_resources.devices or node.countables)
            and has_devices(node, requests)
            for node in columns.nodes
        ),
        dtype=np.bool_,
    )
    columns.keep(key, mask)
    return mask
