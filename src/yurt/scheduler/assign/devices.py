"""Devices for tasks: which instances, and how well they suit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from yurt.model.allocated import AllocatedDevice
from yurt.model.node import Node, NodeDeviceResource
from yurt.model.resources import RequestedDevice
from yurt.scheduler.feasible.device_attributes import device_holds, resolve_device
from yurt.scheduler.feasible.devices import matches, node_devices, usable_ids
from yurt.state.use import Claim, DeviceClaim

EXHAUSTED = "devices: no devices match request"


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
