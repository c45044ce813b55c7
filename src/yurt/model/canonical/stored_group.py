"""The stored form of a task group."""

from __future__ import annotations

from collections.abc import Callable

from yurt.model.canonical.stored_service import stored_services
from yurt.model.canonical.stored_task import drop_empty, stored_networks, stored_task
from yurt.model.go_types import Folded

SCALING_MAX_UNSET = -1
"""Stands for a missing maximum, which validation refuses."""

_IGNORED = ("StopAfterClientDisconnect", "MaxClientDisconnect", "PreventRescheduleOnLost")
_VOLUME_TYPES = ("host", "csi")


def stored_group(group: Folded, *, job: Folded, scaling_id: str | None, new_id: Callable[[], str]) -> Folded:
    """Bring a defaulted group into its stored form, in place.

    `scaling_id` is the id that the group's scaling policy has already, if any.
    """
    for name in _IGNORED:
        group.pop(name, None)
    drop_empty(group)
    for spread in group.get("Spreads", ()):
        drop_empty(spread)
    name = group.get("Name", "")
    if "Networks" in group:
        group["Networks"] = stored_networks(group["Networks"])
    if "Volumes" in group:
        _drop_unknown_volumes(group)
    if "Services" in group:
        group["Services"] = stored_services(group["Services"], job=job, group=name, task=None)
    if "Scaling" in group:
        target = {"Namespace": job["Namespace"], "Job": job["ID"], "Group": name}
        group["Scaling"] = {
            "Max": SCALING_MAX_UNSET,
            **group["Scaling"],
            "ID": scaling_id or new_id(),
            "Target": target,
            "CreateIndex": 0,
            "ModifyIndex": 0,
        }
        drop_empty(group["Scaling"])
    for task in group.get("Tasks", ()):
        stored_task(task, job=job, group=name)
    return group


def _drop_unknown_volumes(group: Folded) -> None:
    known = {name: volume for name, volume in group["Volumes"].items() if volume.get("Type") in _VOLUME_TYPES}
    if known:
        group["Volumes"] = known
    else:
        del group["Volumes"]
