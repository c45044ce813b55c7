"""Request defaults of jobs and groups: what a client's job means when it leaves things out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from yurt.model.canonical import policies
from yurt.model.canonical.blocks import defaulted_affinities, defaulted_consul, defaulted_spreads
from yurt.model.canonical.services import defaulted_services
from yurt.model.canonical.tasks import defaulted_task
from yurt.model.decode import fold, plan_of, with_zeros
from yurt.model.forms import JobForm
from yurt.model.go_types import Folded
from yurt.model.job import JOB_PRIORITY_DEFAULT, SERVICE
from yurt.model.wire import DEFAULT_NAMESPACE

_JOB_ZEROS: Folded = {
    "Region": "global",
    "Namespace": DEFAULT_NAMESPACE,
    "Priority": JOB_PRIORITY_DEFAULT,
    "AllAtOnce": False,
    "NodePool": "",
    "Stop": False,
    "ParentID": "",
    "ConsulNamespace": "",
    "VaultNamespace": "",
    "NomadTokenID": "",
    "Status": "",
    "StatusDescription": "",
    "Stable": False,
    "Version": 0,
    "CreateIndex": 0,
    "ModifyIndex": 0,
    "JobModifyIndex": 0,
}


def request_defaults(job: dict[str, Any]) -> dict[str, Any]:
    """Give what `POST /v1/jobs/parse` answers with `Canonicalize`: defaults filled, every member present.

    `job` may be folded or not. Raises BadRequestBody if it is not in the form of a job.
    """
    plan = plan_of(JobForm)
    return with_zeros({**_JOB_ZEROS, **defaulted_job(fold(job, plan))}, plan)


def defaulted_job(job: Folded) -> Folded:
    """Fill the policies, names and block members that `job` leaves out; `job` must be folded."""
    job_type = job.get("Type", SERVICE)
    job_id = job.get("ID", "")
    out = {**job, "ID": job_id, "Name": job.get("Name", job_id), "Type": job_type}
    update = policies.job_update(job.get("Update"), job_type=job_type)
    if update is not None:
        out["Update"] = update
    for name, fill in _JOB_BLOCKS.items():
        if name in job:
            out[name] = fill(job[name])
    if "TaskGroups" in job:
        out["TaskGroups"] = [_group(group, out) for group in job["TaskGroups"]]
    return out


def _group(group: Folded, job: Folded) -> Folded:
    """Fill what `group` leaves out; `job` must have its own defaults already."""
    job_type = job["Type"]
    out = {
        **group,
        "RestartPolicy": policies.group_restart(group.get("RestartPolicy"), job_type=job_type),
        "EphemeralDisk": {**policies.EPHEMERAL_DISK, **group.get("EphemeralDisk", {})},
    }
    merged = {
        "Update": policies.group_update(group.get("Update"), job.get("Update")),
        "ReschedulePolicy": policies.group_reschedule(
            group.get("ReschedulePolicy"), job.get("Reschedule"), job_type=job_type
        ),
        "Migrate": policies.group_migrate(group.get("Migrate"), job.get("Migrate"), job_type=job_type),
    }
    for name, policy in merged.items():
        if policy is not None:
            out[name] = policy
    _count_and_scaling(out)
    for name, fill in _GROUP_BLOCKS.items():
        if name in group:
            out[name] = fill(group[name])
    if "Services" in group:
        owner = f"{job['ID']}-{group.get('Name', '')}"
        out["Services"] = defaulted_services(group["Services"], default_name=owner)
    if "Tasks" in group:
        out["Tasks"] = [defaulted_task(task, job_id=job["ID"], group=out) for task in group["Tasks"]]
    return out


def _count_and_scaling(group: Folded) -> None:
    """Make count and scaling bounds agree: each stands in for the other where it is absent."""
    scaling = group.get("Scaling")
    count = group.setdefault("Count", 1 if scaling is None else scaling.get("Min", 1))
    if scaling is not None:
        group["Scaling"] = {
            "Enabled": True,
            "Min": count,
            **scaling,
            "Type": scaling.get("Type") or "horizontal",
        }


def _periodic(given: Folded) -> Folded:
    return {**policies.PERIODIC, **given}


def _parameterized(given: Folded) -> Folded:
    return {**given, "Payload": given.get("Payload") or "optional"}


def _multiregion(given: Folded) -> Folded:
    return {**given, "Regions": [{"Meta": {}, **region} for region in given.get("Regions", [])]}


def _disconnect(given: Folded) -> Folded:
    return {**policies.DISCONNECT, **given}


_JOB_BLOCKS: dict[str, Callable[[Any], Any]] = {
    "Affinities": defaulted_affinities,
    "Spreads": defaulted_spreads,
    "Periodic": _periodic,
    "ParameterizedJob": _parameterized,
    "Multiregion": _multiregion,
}
_GROUP_BLOCKS: dict[str, Callable[[Any], Any]] = {
    "Affinities": defaulted_affinities,
    "Spreads": defaulted_spreads,
    "Disconnect": _disconnect,
    "Consul": defaulted_consul,
}
