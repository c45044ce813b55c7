"""Problems with a task group."""

from __future__ import annotations

from yurt.model.go_text import quoted
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM
from yurt.model.multi_error import nested
from yurt.model.validate import policies
from yurt.model.validate.networks import networks_errors, volume_errors
from yurt.model.validate.placement import affinities_errors, constraints_errors, spreads_errors
from yurt.model.validate.services import group_script_check_errors, group_services_errors
from yurt.model.validate.task import task_errors


def group_errors(group: TaskGroup, *, job_type: str) -> list[str]:
    """Check one group of a job of the given type."""
    errors = []
    if not group.name:
        errors.append("Missing task group name")
    if "\0" in group.name:
        errors.append("Task group name contains null character")
    if group.count < 0:
        errors.append("Task group count can't be negative")
    if not group.tasks:
        errors.append("Missing tasks for task group")
    errors += _run_time_errors(group, job_type=job_type)
    errors += placement_errors(group, job_type=job_type)
    errors += _policy_errors(group, job_type=job_type)
    errors += _task_set_errors(group)
    canaries = group.update is not None and group.update.canary > 0
    for name, volume in (group.volumes or {}).items():
        found = volume_errors(
            volume,
            is_system=job_type in (SYSTEM, SYSBATCH),
            has_canaries=canaries,
            count=group.count,
        )
        errors += nested(found, under=f"Task group volume validation for {name} failed")
    errors += nested(networks_errors(group.networks), under="Task group network validation failed")
    errors += nested(group_services_errors(group), under="Task group service validation failed")
    errors += nested(group_script_check_errors(group), under="Task group service check validation failed")
    if group.scaling is not None:
        found = policies.scaling_errors(group.scaling, count=group.count)
        errors += nested(found, under="Task group scaling policy validation failed")
    for task in group.tasks:
        found = task_errors(task, group, job_type=job_type)
        errors += nested(found, under=f"Task {task.name} validation failed")
    return errors


def placement_errors(group: TaskGroup, *, job_type: str) -> list[str]:
    """Check constraints, affinities and spreads; system jobs may not prefer nodes."""
    errors = constraints_errors(group.constraints)
    if job_type == SYSTEM:
        if group.affinities:
            errors.append("System jobs may not have an affinity block")
        if group.spreads:
            errors.append("System jobs may not have a spread block")
        return errors
    return errors + affinities_errors(group.affinities) + spreads_errors(group.spreads)


def _run_time_errors(group: TaskGroup, *, job_type: str) -> list[str]:
    errors = []
    if group.max_run_duration is not None:
        if group.max_run_duration <= 0:
            errors.append("MaxRunDuration must be greater than zero")
        if job_type not in (BATCH, SYSBATCH):
            errors.append(f"Job type {quoted(job_type)} does not allow max_run_duration")
    if group.disconnect is not None:
        errors += policies.disconnect_errors(group.disconnect, job_type=job_type)
    return errors


def _policy_errors(group: TaskGroup, *, job_type: str) -> list[str]:
    errors = policies.restart_errors(group.restart_policy)
    if group.reschedule_policy is not None:
        if job_type in (SYSTEM, SYSBATCH):
            errors.append("System or sysbatch jobs should not have a reschedule policy")
        else:
            errors += policies.reschedule_errors(group.reschedule_policy)
    errors += policies.disk_errors(group.ephemeral_disk)
    if group.update is not None:
        if job_type not in (SERVICE, SYSTEM):
            errors.append(f"Job type {quoted(job_type)} does not allow update block")
        else:
            errors += policies.update_strategy_errors(group.update)
    if group.migrate is not None:
        if job_type != SERVICE:
            errors.append(f"Job type {quoted(job_type)} does not allow migrate block")
        else:
            errors += policies.migrate_errors(group.migrate)
    return errors


def _task_set_errors(group: TaskGroup) -> list[str]:
    """Check the tasks of a group against each other."""
    errors = []
    numbers: dict[str, int] = {}
    for number, task in enumerate(group.tasks, start=1):
        if not task.name:
            errors.append(f"Task {number} missing name")
        elif task.name in numbers:
            errors.append(f"Task {number} redefines '{task.name}' from task {numbers[task.name]}")
        else:
            numbers[task.name] = number
    if sum(task.leader for task in group.tasks) > 1:
        errors.append("Only one task may be marked as leader")
    if group.tasks and all(task.lifecycle is not None for task in group.tasks):
        errors.append(f"Task group {group.name} must have at least one main task")
    return errors
