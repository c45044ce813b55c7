"""The stored form of a job: what a server keeps of a request, and what it adds."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from yurt.model.canonical.connect import add_connect_parts
from yurt.model.canonical.implied import add_implied_constraints
from yurt.model.canonical.request import defaulted_job
from yurt.model.canonical.stored_group import stored_group
from yurt.model.canonical.stored_task import drop_empty
from yurt.model.go_types import Folded
from yurt.model.job import JOB_PRIORITY_DEFAULT, Job
from yurt.model.wire import DEFAULT_NAMESPACE, DEFAULT_NODE_POOL

_SERVER_ONLY = (
    "CreateIndex",
    "ConsulNamespace",
    "Dispatched",
    "DispatchIdempotencyToken",
    "JobModifyIndex",
    "ModifyIndex",
    "NomadTokenID",
    "ParentID",
    "Stable",
    "Status",
    "StatusDescription",
    "SubmitTime",
)
"""Members that a request cannot set."""


def canonical_job(
    job: Folded,
    *,
    region: str,
    new_id: Callable[[], str],
    namespace: str | None = None,
    existing: Job | None = None,
    node_pool: str = "",
) -> Job:
    """Give the job that is stored for a folded request; the job may still be invalid.

    `region` is the resolved one. `namespace` overrides the job's own. `existing` is the job of that name
    as stored now: its scaling policies keep their ids, others get one of `new_id`. `node_pool` is where
    jobs of the namespace go that name no pool.
    Status, indexes and times are left at zero: registering sets them. `job` itself is not changed.
    """
    out = defaulted_job(job)
    for name in _SERVER_ONLY:
        out.pop(name, None)
    out["Region"] = region
    out["Namespace"] = namespace or out.get("Namespace") or DEFAULT_NAMESPACE
    out["Priority"] = out.get("Priority") or JOB_PRIORITY_DEFAULT
    out["Datacenters"] = out.get("Datacenters") or ["*"]
    out["NodePool"] = out.get("NodePool") or node_pool or DEFAULT_NODE_POOL
    out["Update"] = _job_update(out.get("Update"))
    if "UI" in out:
        out["UI"] = _ui(out["UI"])
    drop_empty(out)
    for block in (*out.get("Spreads", ()), out.get("ParameterizedJob", {})):
        drop_empty(block)
    groups = [
        stored_group(group, job=out, scaling_id=_scaling_id(group, existing), new_id=new_id)
        for group in out.get("TaskGroups", ())
    ]
    for group in groups:
        add_connect_parts(group)
    add_implied_constraints(groups)
    out["TaskGroups"] = groups
    return msgspec.convert(out, Job)


def _job_update(update: Folded | None) -> Folded:
    """Keep the pace alone: the rest of a job's update block has been handed down to its groups."""
    if update is None or update["MaxParallel"] <= 0:
        return {}
    return {"Stagger": update["Stagger"], "MaxParallel": update["MaxParallel"]}


def _ui(ui: Folded) -> Folded:
    out = {"Description": ui.get("Description", "")}
    links = ui.get("Links")
    if links:
        out["Links"] = [{"Label": link.get("Label", ""), "Url": link.get("URL", "")} for link in links]
    return out


def _scaling_id(group: Folded, existing: Job | None) -> str | None:
    stored = None if existing is None else existing.group(group.get("Name", ""))
    return None if stored is None or stored.scaling is None else stored.scaling.id
