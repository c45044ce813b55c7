"""What is dubious about a job, but no reason to refuse it."""

from __future__ import annotations

from yurt.model.go_text import quoted
from yurt.model.group import TaskGroup
from yurt.model.identity import WorkloadIdentity
from yurt.model.job import Job
from yurt.model.multi_error import deeper, nested
from yurt.model.resources import Resources
from yurt.model.task import Task

_MEGABYTE = 1_000_000


def job_warnings(job: Job, *, memory_oversubscription: bool = False) -> list[str]:
    """Give the warnings about a canonical job, in order; see `warnings_text` for their layout."""
    warnings: list[str] = []
    for group in job.task_groups:
        warnings += nested(_group_warnings(group), under=f"Group {quoted(group.name)} has warnings")
    canaries = [group.update for group in job.task_groups if group.update is not None and group.update.canary]
    promoting = [update.auto_promote for update in canaries]
    if any(promoting) and not all(promoting):
        warnings.append("auto_promote must be true for all groups to enable automatic promotion")
    if job.periodic is not None and job.periodic.spec:
        warnings.append("cron is deprecated and may be removed in a future release. Use crons instead")
    for group in job.task_groups:
        warnings += _shutdown_delay_warnings(group)
    for group in job.task_groups:
        for task in group.tasks:
            warnings += _vault_identity_warnings(task)
            if task.resources.memory_max_mb != 0 and not memory_oversubscription:
                name = quoted(f"{group.name}.{task.name}")
                warnings.append(
                    f"Memory oversubscription is not enabled; Task {name} memory_max value will be ignored. "
                    "Update the Scheduler Configuration to allow oversubscription."
                )
    return warnings


def source_size_warning(size: int, *, most: int) -> str:
    """Say that a job's source is too large to be kept."""
    return (
        f"job source size of {_megabytes(size)} exceeds maximum of {_megabytes(most)} and will be discarded"
    )


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"


def _group_warnings(group: TaskGroup) -> list[str]:
    warnings = []
    update = group.update
    if update is not None and 1 < group.count < update.max_parallel:
        warnings.append(
            "Update max parallel count is greater than task group count "
            f"({update.max_parallel} > {group.count}). "
            "A destructive change would result in the simultaneous replacement of all allocations."
        )
    if any(network.mbits > 0 for network in group.networks or ()):
        warnings.append(
            "mbits has been deprecated as of Nomad 0.12.0. Please remove mbits from the network block"
        )
    for task in group.tasks:
        warnings += nested(_task_warnings(task), under=f"Task {quoted(task.name)} has warnings")
    return warnings


def _task_warnings(task: Task) -> list[str]:
    warnings = _resources_warnings(task.resources)
    for index, template in enumerate(task.templates or ()):
        if template.vault_grace != 0:
            warnings.append(
                f"Template[{index}] VaultGrace has been deprecated as of Nomad 0.11 and ignored since "
                "Vault 0.5. Please remove VaultGrace / vault_grace from template block."
            )
    for identity in task.identities or ():
        warnings += deeper(_identity_warnings(identity))
    return warnings


def _resources_warnings(resources: Resources) -> list[str]:
    warnings = []
    if resources.iops > 0:
        warnings.append("IOPS has been deprecated as of Nomad 0.9.0. Please remove IOPS from resource block.")
    if resources.networks:
        warnings.append(
            "task network resources have been deprecated as of Nomad 0.12.0. "
            "Please configure networking via group network block."
        )
    return warnings


def _identity_warnings(identity: WorkloadIdentity) -> list[str]:
    warnings = []
    audiences = len(identity.audience or ())
    if audiences == 0:
        warnings.append("identities without an audience are insecure")
    elif audiences > 1:
        warnings.append(
            "while multiple audiences is allowed, it is more secure to use 1 audience per identity"
        )
    if identity.ttl == 0:
        warnings.append("identities without an expiration are insecure")
    if identity.env and identity.change_mode != "restart":
        warnings.append(
            'using env=true without change_mode="restart" may result in task not getting updated identity'
        )
    return [f"Identity[{identity.name}] {warning}" for warning in warnings]


def _shutdown_delay_warnings(group: TaskGroup) -> list[str]:
    """Tell of services that are killed while they may still be called."""
    if group.shutdown_delay:
        return []
    warnings = [
        f"task {quoted(task.name)} in group {quoted(group.name)} defines services, "
        "but has no shutdown_delay set"
        for task in group.tasks
        if task.services and task.shutdown_delay == 0
    ]
    if not group.services:
        return warnings
    if all(task.shutdown_delay == 0 for task in group.tasks):
        warnings.append(
            f"group {quoted(group.name)} defines services, "
            "but neither the group nor any of its tasks have shutdown_delay set"
        )
        return warnings
    delays = {task.name: task.shutdown_delay for task in group.tasks}
    for service in group.services:
        if delays.get(service.task_name) == 0:
            warnings.append(
                f"group {quoted(group.name)} references task {quoted(service.task_name)} "
                "in a service definition, but the task has no shutdown_delay set"
            )
    return warnings


def _vault_identity_warnings(task: Task) -> list[str]:
    if task.vault is not None:
        return []
    return [
        f"Task {task.name} has an identity called {identity.name} but no vault block"
        for identity in task.identities or ()
        if identity.name.startswith("vault_")
    ]
