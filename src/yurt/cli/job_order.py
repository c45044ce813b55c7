"""The order in which the members of a job are printed: that of job files, with what matters most first."""

from typing import Any

JOB = [
    "Region",
    "Namespace",
    "ID",
    "Name",
    "Type",
    "Priority",
    "AllAtOnce",
    "Datacenters",
    "NodePool",
    "Constraints",
    "Affinities",
    "TaskGroups",
    "Update",
    "Multiregion",
    "Spreads",
    "Periodic",
    "ParameterizedJob",
    "Reschedule",
    "Migrate",
    "Meta",
    "UI",
    "Stop",
    "ParentID",
    "Dispatched",
    "DispatchIdempotencyToken",
    "Payload",
    "ConsulNamespace",
    "VaultNamespace",
    "NomadTokenID",
    "Status",
    "StatusDescription",
    "Stable",
    "Version",
    "SubmitTime",
    "CreateIndex",
    "ModifyIndex",
    "JobModifyIndex",
    "VersionTag",
]
GROUP = [
    "Name",
    "Count",
    "Constraints",
    "Affinities",
    "Tasks",
    "Spreads",
    "Volumes",
    "RestartPolicy",
    "Disconnect",
    "ReschedulePolicy",
    "EphemeralDisk",
    "Update",
    "Migrate",
    "Networks",
    "Meta",
    "Services",
    "ShutdownDelay",
    "MaxRunDuration",
    "StopAfterClientDisconnect",
    "MaxClientDisconnect",
    "Scaling",
    "Consul",
    "PreventRescheduleOnLost",
]
TASK = [
    "Name",
    "Driver",
    "User",
    "Lifecycle",
    "Config",
    "Constraints",
    "Affinities",
    "Env",
    "Services",
    "Resources",
    "RestartPolicy",
    "Meta",
    "KillTimeout",
    "LogConfig",
    "Artifacts",
    "Vault",
    "Consul",
    "Templates",
    "DispatchPayload",
    "VolumeMounts",
    "Leader",
    "ShutdownDelay",
    "KillSignal",
    "Kind",
    "ScalingPolicies",
    "Secrets",
    "Identity",
    "Identities",
    "Actions",
    "Schedule",
]
RESOURCES = [
    "CPU",
    "Cores",
    "MemoryMB",
    "MemoryMaxMB",
    "DiskMB",
    "Networks",
    "Devices",
    "NUMA",
    "SecretsMB",
    "IOPS",
]


def ordered_job(job: dict[str, Any]) -> dict[str, Any]:
    """A job in the API's form, its members in order at every level that people read."""
    groups = job.get("TaskGroups")
    if not isinstance(groups, list):
        return _ordered(job, JOB)
    return _ordered({**job, "TaskGroups": [_ordered_group(group) for group in groups]}, JOB)


def _ordered_group(group: dict[str, Any]) -> dict[str, Any]:
    tasks = group.get("Tasks")
    if not isinstance(tasks, list):
        return _ordered(group, GROUP)
    return _ordered({**group, "Tasks": [_ordered_task(task) for task in tasks]}, GROUP)


def _ordered_task(task: dict[str, Any]) -> dict[str, Any]:
    task = dict(task)
    if isinstance(task.get("Resources"), dict):
        task["Resources"] = _ordered(task["Resources"], RESOURCES)
    if isinstance(task.get("Config"), dict):
        task["Config"] = dict(sorted(task["Config"].items()))
    return _ordered(task, TASK)


def _ordered(record: dict[str, Any], order: list[str]) -> dict[str, Any]:
    known = {name: record[name] for name in order if name in record}
    return {**known, **record}
