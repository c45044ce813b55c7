"""Devices for tasks: which instances, and how well they suit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from yurt.model.allocated import AllocatedDevice
from yurt.model.node import Node, NodeDeviceResource
from yurt.model.resources import RequestedDevice
from yurt.scheduler.feasible.device_attributes import device_holds, resolve_device
from yurt.scheduler.feasible.devices import is_named, matches, node_devices, usable_ids
from yurt.scheduler.view import View
from yurt.state.columns import NodeColumns
from yurt.state.use import Claim, DeviceClaim, DeviceKey

EXHAUSTED = "devices: no devices match request"

Totals: TypeAlias = dict[DeviceKey, tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Healthy devices, and all there are, by kind and slot."""


class GivenDevices(msgspec.Struct, frozen=True):
    """Devices by task, and the score of the choice; None unless affinities were asked for."""

    by_task: dict[str, tuple[AllocatedDevice, ...]]
    score: float | None


def assign_devices(
    node: Node, held: Mapping[Claim, int], wanted: Iterable[tuple[str, RequestedDevice]]
) -> GivenDevices | None:
    """Serve each request whole from one group of devices, the one that suits best; None if one cannot be."""
    devices = node_devices(node)
    taken: set[DeviceClaim] = set()
    by_task: dict[str, tuple[AllocatedDevice, ...]] = {}
    matched = weights = 0.0
    for task, request in wanted:
        best: tuple[float, AllocatedDevice, float] | None = None
        total = sum(abs(affinity.weight) for affinity in request.affinities or ())
        for device in devices:
            free = _free(device, request, held, taken)
            if len(free) < request.count:
                continue
            weight = _matched_weight(device, request, free)
            score = weight / total if total else 0.0
            # Equal ones go to the later, as in Nomad.
            if best is None or score >= best[0]:
                chosen = AllocatedDevice(
                    vendor=device.vendor,
                    type=device.type,
                    name=device.name,
                    device_ids=tuple(free[: request.count]),
                )
                best = score, chosen, weight
        if best is None:
            return None
        _, chosen, weight = best
        taken.update(
            DeviceClaim(chosen.vendor, chosen.type, chosen.name, device_id) for device_id in chosen.device_ids
        )
        by_task[task] = (*by_task.get(task, ()), chosen)
        matched += weight
        weights += total
    return GivenDevices(by_task, matched / weights if weights else None)


def may_have_devices(
    view: View, wanted: Iterable[tuple[str, RequestedDevice]], slots: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Mask of the slots that have enough free devices for each request by itself, as far as counts tell.

    A node that fails here cannot be assigned the devices; one that passes may still fail.
    """
    totals = _device_totals(view.columns)
    enough = np.ones(len(slots), dtype=np.bool_)
    for _, request in wanted:
        has_enough = np.zeros(len(slots), dtype=np.bool_)
        for key, (healthy, every) in totals.items():
            if is_named(*key, request):
                free = np.minimum(healthy[slots], every[slots] - view.devices_in_use(key)[slots])
                has_enough |= free >= request.count
        enough &= has_enough
    return enough


def _device_totals(columns: NodeColumns) -> Totals:
    """How many devices of each kind are healthy, and are there at all, by slot. Kept until nodes change."""
    known: Totals | None = columns.memo.get("device totals")
    if known is not None:
        return known
    totals: Totals = {}
    for slot, node in enumerate(columns.nodes):
        for device in node_devices(node) if node is not None else ():
            key = (device.vendor, device.type, device.name)
            if key not in totals:
                totals[key] = np.zeros(columns.size, dtype=np.int64), np.zeros(columns.size, dtype=np.int64)
            healthy, every = totals[key]
            healthy[slot] += sum(instance.healthy for instance in device.instances or ())
            every[slot] += len(device.instances or ())
    columns.keep("device totals", totals)
    return totals


def _free(
    device: NodeDeviceResource, request: RequestedDevice, held: Mapping[Claim, int], taken: set[DeviceClaim]
) -> Sequence[str]:
    if not matches(device, request):
        return ()
    claims = (
        (device_id, DeviceClaim(device.vendor, device.type, device.name, device_id))
        for device_id in usable_ids(device, request)
    )
    return [device_id for device_id, claim in claims if claim not in held and claim not in taken]


def _matched_weight(device: NodeDeviceResource, request: RequestedDevice, ids: Sequence[str]) -> float:
    return sum(
        affinity.weight
        for affinity in request.affinities or ()
        if device_holds(
            resolve_device(device, affinity.ltarget, tuple(ids)),
            affinity.operand,
            resolve_device(device, affinity.rtarget, tuple(ids)),
        )
    )
