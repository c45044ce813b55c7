"""Problems with a job."""

from __future__ import annotations

import msgspec

from yurt.model.cron import BadCronSpec, BadTimeZone, find_zone, parse_cron
from yurt.model.go_text import quoted, quoted_list
from yurt.model.job import BATCH, CORE, JOB_PRIORITY_MAX, JOB_PRIORITY_MIN, JOB_TYPES, SYSBATCH, SYSTEM, Job
from yurt.model.multi_error import MultiError, deeper, nested
from yurt.model.namespace import NamespaceCapabilities, NamespaceNodePools
from yurt.model.policies import ParameterizedJobConfig, PeriodicConfig
from yurt.model.validate.connect import connect_errors, expose_errors
from yurt.model.validate.group import group_errors
from yurt.model.validate.placement import affinities_errors, constraints_errors, spreads_errors

JOB_COUNT_MAX = 50_000
DESCRIPTION_MAX = 1000
_DEFAULT_CLUSTER = "default"


class JobRules(msgspec.Struct, frozen=True, kw_only=True):
    """What a job is checked against that is not in the job itself."""

    priority_max: int = JOB_PRIORITY_MAX
    count_max: int = JOB_COUNT_MAX
    namespace_exists: bool = True
    node_pool_exists: bool = True
    capabilities: NamespaceCapabilities | None = None
    """What the job's namespace allows; None allows all."""
    node_pools: NamespaceNodePools | None = None
    """The pools that the job's namespace allows; None allows all."""
    vault_enabled: bool = False


def job_errors(job: Job, rules: JobRules = JobRules()) -> MultiError | None:  # noqa: B008 - frozen
    """Give everything that is wrong with a canonical job, or None."""
    errors = connect_errors(job.task_groups) + expose_errors(job.task_groups)
    errors += _head_errors(job)
    errors += _placement_errors(job)
    errors += _text_errors(job)
    errors += _groups_errors(job)
    errors += _launch_errors(job)
    errors += _submission_errors(job, rules)
    errors += _namespace_errors(job, rules)
    errors += _enterprise_errors(job, rules)
    return MultiError(errors) if errors else None


def _head_errors(job: Job) -> list[str]:
    errors = []
    if not job.region:
        errors.append("Missing job region")
    if not job.id:
        errors.append("Missing job ID")
    elif " " in job.id:
        errors.append("Job ID contains a space")
    elif "\0" in job.id:
        errors.append("Job ID contains a null character")
    if not job.name:
        errors.append("Missing job name")
    elif "\0" in job.name:
        errors.append("Job Name contains a null character")
    if not job.namespace:
        errors.append("Job must be in a namespace")
    if not job.type:
        errors.append("Missing job type")
    elif job.type not in (*JOB_TYPES, CORE):
        errors.append(f"Invalid job type: {quoted(job.type)}")
    if not job.datacenters:
        errors.append("Missing job datacenters")
    elif "" in job.datacenters:
        errors.append("Job datacenter must be non-empty string")
    if not job.task_groups:
        errors.append("Missing job task groups")
    return errors


def _placement_errors(job: Job) -> list[str]:
    errors = constraints_errors(job.constraints)
    if job.type == SYSTEM:
        if job.affinities:
            errors.append("System jobs may not have an affinity block")
        if job.spreads:
            errors.append("System jobs may not have a spread block")
        return errors
    return errors + affinities_errors(job.affinities) + spreads_errors(job.spreads)


def _text_errors(job: Job) -> list[str]:
    errors = []
    if job.ui is not None and len(job.ui.description) > DESCRIPTION_MAX:
        errors.append(
            f"UI description must be under {DESCRIPTION_MAX} characters, currently {len(job.ui.description)}"
        )
    tag = job.version_tag
    if tag is not None and len(tag.description) > DESCRIPTION_MAX:
        errors.append(
            f"Tagged version description must be under {DESCRIPTION_MAX} characters, "
            f"currently {len(tag.description)}"
        )
    return errors


def _groups_errors(job: Job) -> list[str]:
    """Check the groups against each other, then each by itself."""
    errors: list[str] = []
    numbers: dict[str, int] = {}
    for number, group in enumerate(job.task_groups, start=1):
        if not group.name:
            errors.append(f"Job task group {number} missing name")
        elif group.name in numbers:
            errors.append(
                f"Job task group {number} redefines '{group.name}' from group {numbers[group.name]}"
            )
        else:
            numbers[group.name] = number
        if group.shutdown_delay is not None and group.shutdown_delay < 0:
            errors.append("ShutdownDelay must be a positive value")
        if job.type == SYSTEM and group.count > 1:
            errors.append(
                f"Job task group {group.name} has count {group.count}. "
                "Count cannot exceed 1 with system scheduler"
            )
    for group in job.task_groups:
        found = group_errors(group, job_type=job.type)
        errors += nested(found, under=f"Task group {group.name} validation failed")
    return errors


def _launch_errors(job: Job) -> list[str]:
    errors = []
    launches_children = job.type in (BATCH, SYSBATCH)
    if job.periodic is not None:
        if not launches_children:
            errors.append('Periodic can only be used with "batch" or "sysbatch" scheduler')
        errors += deeper(_periodic_errors(job.periodic))
    if job.parameterized_job is not None:
        if not launches_children:
            errors.append('Parameterized job can only be used with "batch" or "sysbatch" scheduler')
        errors += deeper(_parameterized_errors(job.parameterized_job))
    if job.multiregion is not None:
        errors.append("Multiregion jobs are unlicensed.")
    return errors


def _periodic_errors(periodic: PeriodicConfig) -> list[str]:
    if not periodic.enabled:
        return []
    errors = []
    if periodic.spec and periodic.specs:
        errors.append("Only cron or crons may be used")
    if not periodic.spec and not periodic.specs:
        errors.append("Must specify a spec")
    try:
        find_zone(periodic.time_zone)
    except BadTimeZone as bad:
        errors.append(f"Invalid time zone {quoted(periodic.time_zone)}: {bad}")
    if periodic.spec_type != "cron":
        errors.append(f"Unknown periodic specification type {quoted(periodic.spec_type)}")
        return errors
    for spec in ((periodic.spec,) if periodic.spec else ()) + (periodic.specs or ()):
        try:
            parse_cron(spec)
        except BadCronSpec as bad:
            errors.append(f"Invalid cron spec {quoted(spec)}: {bad}")
    return errors


def _parameterized_errors(parameterized: ParameterizedJobConfig) -> list[str]:
    errors = []
    if parameterized.payload not in ("optional", "required", "forbidden"):
        errors.append(f"Unknown payload requirement: {quoted(parameterized.payload)}")
    both = sorted(set(parameterized.meta_required or ()) & set(parameterized.meta_optional or ()))
    if both:
        errors.append(
            "Required and optional meta keys should be disjoint. "
            f"Following keys exist in both: [{' '.join(both)}]"
        )
    return errors


def _submission_errors(job: Job, rules: JobRules) -> list[str]:
    errors = []
    if job.type == CORE:
        errors.append("job type cannot be core")
    if job.payload:
        errors.append("job can't be submitted with a payload, only dispatched")
    if not JOB_PRIORITY_MIN <= job.priority <= rules.priority_max:
        errors.append(f"job priority must be between [{JOB_PRIORITY_MIN}, {rules.priority_max}]")
    total = sum(group.count for group in job.task_groups)
    if total > rules.count_max:
        errors.append(f"total count was greater than configured job_max_count: {total} > {rules.count_max}")
    return errors


def _namespace_errors(job: Job, rules: JobRules) -> list[str]:
    if not rules.namespace_exists:
        return [f"job {quoted(job.id)} is in nonexistent namespace {quoted(job.namespace)}"]
    errors = []
    if not rules.node_pool_exists:
        errors.append(f"job {quoted(job.id)} is in nonexistent node pool {quoted(job.node_pool)}")
    if rules.node_pools is not None and not rules.node_pools.allows(job.node_pool):
        errors.append(
            f"job {quoted(job.id)} is in node pool {quoted(job.node_pool)}, "
            f"which is not allowed in namespace {quoted(job.namespace)}"
        )
    allowed = rules.capabilities
    if allowed is None:
        return errors
    drivers = {task.driver for group in job.task_groups for task in group.tasks}
    modes = {network.mode or "host" for group in job.task_groups for network in group.networks or ()}
    refused = _refused(drivers, allowed.enabled_task_drivers, allowed.disabled_task_drivers)
    if refused:
        return [*errors, *_refusal("task driver", refused, job.namespace)]
    refused = _refused(modes, allowed.enabled_network_modes, allowed.disabled_network_modes)
    return [*errors, *_refusal("group network mode", refused, job.namespace)]


def _refused(used: set[str], enabled: tuple[str, ...] | None, disabled: tuple[str, ...] | None) -> list[str]:
    return sorted(name for name in used if (enabled and name not in enabled) or name in (disabled or ()))


def _refusal(noun: str, refused: list[str], namespace: str) -> list[str]:
    if not refused:
        return []
    if len(refused) == 1:
        return [f"used {noun} {quoted(refused[0])} is not allowed in namespace {quoted(namespace)}"]
    return [f"used {noun}s {quoted_list(refused)} are not allowed in namespace {quoted(namespace)}"]


def _enterprise_errors(job: Job, rules: JobRules) -> list[str]:
    """Check what needs Vault, or an edition that this is not."""
    errors = []
    tasks = [(group, task) for group in job.task_groups for task in group.tasks]
    vaults = [task.vault for _, task in tasks if task.vault is not None]
    if any(vault.cluster != _DEFAULT_CLUSTER for vault in vaults):
        errors.append("non-default Vault cluster requires Nomad Enterprise")
    elif vaults and not rules.vault_enabled:
        errors.append(f"Vault {quoted(_DEFAULT_CLUSTER)} not enabled but used in the job")
    namespaces = sorted({vault.namespace for vault in vaults if vault.namespace})
    if rules.vault_enabled and namespaces:
        errors.append(
            f"multiple Vault namespaces requires Nomad Enterprise, Namespaces: {', '.join(namespaces)}"
        )
    clusters = {group.consul.cluster for group in job.task_groups if group.consul is not None}
    for group, task in tasks:
        if task.consul is None:
            continue
        clusters.add(task.consul.cluster)
        of_task, of_group = task.consul.partition, group.consul.partition if group.consul is not None else ""
        if of_task and of_group and of_task != of_group:
            errors.append(
                f"task.consul.partition {quoted(of_task)} must match "
                f"group.consul.partition {quoted(of_group)} if both are set"
            )
    if clusters - {_DEFAULT_CLUSTER}:
        errors.append("non-default Consul cluster requires Nomad Enterprise")
    if any(task.resources.numa is not None and task.resources.numa.affinity != "none" for _, task in tasks):
        errors.append("numa scheduling requires Nomad Enterprise")
    if any(task.schedule is not None for _, task in tasks):
        errors.append("task schedules requires Nomad Enterprise")
    return errors
