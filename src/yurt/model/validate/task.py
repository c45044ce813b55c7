"""Problems with a task."""

from __future__ import annotations

from yurt.model.durations import duration_text
from yurt.model.go_text import quoted
from yurt.model.group import TaskGroup
from yurt.model.job import SERVICE, SYSTEM
from yurt.model.multi_error import deeper, nested
from yurt.model.task import Task
from yurt.model.validate import task_parts
from yurt.model.validate.placement import affinities_errors, constraints_errors
from yurt.model.validate.resources import log_config_errors, resources_errors
from yurt.model.validate.services import task_services_errors

CONNECT_PROXY_KINDS = ("connect-proxy", "connect-ingress", "connect-terminating", "connect-mesh")


def task_errors(task: Task, group: TaskGroup, *, job_type: str) -> list[str]:
    """Check one task of a group."""
    errors = _basic_errors(task, group, job_type=job_type)
    errors += deeper(resources_errors(task.resources))
    errors += deeper(log_config_errors(task.log_config, disk_mb=group.ephemeral_disk.size_mb))
    errors += constraints_errors(task.constraints)
    errors += [
        f"Constraint {number} has disallowed Operand at task level: {constraint.operand}"
        for number, constraint in enumerate(task.constraints or (), start=1)
        if constraint.operand in ("distinct_hosts", "distinct_property")
    ]
    if job_type == SYSTEM:
        if task.affinities:
            errors.append("System jobs may not have an affinity block")
    else:
        errors += affinities_errors(task.affinities)
    errors += deeper(task_services_errors(task, group))
    errors += task_parts.artifacts_errors(task.artifacts)
    if task.vault is not None:
        errors += nested(task_parts.vault_errors(task.vault), under="Vault validation failed")
    errors += task_parts.templates_errors(task.templates)
    errors += task_parts.actions_errors(task.actions)
    if task.dispatch_payload is not None:
        errors += task_parts.dispatch_payload_errors(task.dispatch_payload.file)
    if task.lifecycle is not None:
        errors += task_parts.lifecycle_errors(task.lifecycle)
    errors += task_parts.volume_mounts_errors(task.volume_mounts, frozenset(group.volumes or ()))
    if task.csi_plugin_config is not None:
        errors += task_parts.csi_plugin_errors(task.csi_plugin_config)
    errors += task_parts.identities_errors(task.identity, task.identities)
    errors += task_parts.secrets_errors(task.secrets, has_vault=task.vault is not None)
    return errors + _proxy_errors(task, group)


def _basic_errors(task: Task, group: TaskGroup, *, job_type: str) -> list[str]:
    errors = []
    if not task.name:
        errors.append("Missing task name")
    if task.name == "alloc":
        errors.append('Task cannot be named "alloc"')
    if "/" in task.name or "\\" in task.name:
        errors.append("Task name cannot include slashes")
    if "\0" in task.name:
        errors.append("Task name cannot include null characters")
    if not task.driver:
        errors.append("Missing task driver")
    if task.kill_timeout < 0:
        errors.append("KillTimeout must be a positive value")
    elif job_type == SERVICE and group.update is not None:
        progress = group.update.progress_deadline
        if 0 < progress < task.kill_timeout:
            errors.append(
                f"KillTimout ({duration_text(task.kill_timeout)}) longer than "
                f"the group's ProgressDeadline ({duration_text(progress)})"
            )
    if task.shutdown_delay < 0:
        errors.append("ShutdownDelay must be a positive value")
    return errors


def _proxy_errors(task: Task, group: TaskGroup) -> list[str]:
    """Check a task that is a Connect proxy."""
    kind, _, service_name = task.kind.partition(":")
    if kind not in CONNECT_PROXY_KINDS:
        return []
    errors = []
    if task.services:
        errors.append("Connect proxy task must not have a service block")
    if task.leader:
        errors.append("Connect proxy task must not have leader set")
    if not any(
        service.name == service_name and service.connect is not None for service in group.services or ()
    ):
        errors.append(f"No Connect services in task group with Connect proxy ({quoted(service_name)})")
    return errors
