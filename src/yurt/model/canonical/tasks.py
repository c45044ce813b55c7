"""Request defaults of a task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yurt.model.canonical import blocks
from yurt.model.canonical.services import defaulted_services
from yurt.model.go_types import Folded


def defaulted_task(task: Folded, *, job_id: str, group: Folded) -> Folded:
    """Fill what `task` leaves out. `group` must have its restart policy already."""
    out = {
        "KillTimeout": blocks.KILL_TIMEOUT_NS,
        **task,
        "RestartPolicy": {**group["RestartPolicy"], **task.get("RestartPolicy", {})},
        "Resources": blocks.defaulted_resources(task.get("Resources", {})),
        "LogConfig": blocks.defaulted_log_config(task.get("LogConfig", {})),
    }
    for name, fill in _BLOCKS.items():
        if name in task:
            out[name] = fill(task[name])
    if "Services" in task:
        owner = f"{job_id}-{group.get('Name', '')}-{task.get('Name', '')}"
        out["Services"] = defaulted_services(task["Services"], default_name=owner)
    return out


_BLOCKS: dict[str, Callable[[Any], Any]] = {
    "Affinities": blocks.defaulted_affinities,
    "Templates": blocks.defaulted_templates,
    "Artifacts": blocks.defaulted_artifacts,
    "Vault": blocks.defaulted_vault,
    "Consul": blocks.defaulted_consul,
    "VolumeMounts": blocks.defaulted_mounts,
    "CSIPluginConfig": blocks.defaulted_csi_plugin,
}
