"""The default policies of each job type, and how job, group and task blocks overlay them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, TypeAlias

from yurt.model.go_types import Folded
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM
from yurt.model.times import HOUR_NS, MINUTE_NS, SECOND_NS

Defaults: TypeAlias = MappingProxyType[str, Any]

UPDATE: Defaults = MappingProxyType(
    {
        "Stagger": 30 * SECOND_NS,
        "MaxParallel": 1,
        "HealthCheck": "checks",
        "MinHealthyTime": 10 * SECOND_NS,
        "HealthyDeadline": 5 * MINUTE_NS,
        "ProgressDeadline": 10 * MINUTE_NS,
        "AutoRevert": False,
        "AutoPromote": False,
        "Canary": 0,
    }
)
MIGRATE: Defaults = MappingProxyType(
    {
        "MaxParallel": 1,
        "HealthCheck": "checks",
        "MinHealthyTime": 10 * SECOND_NS,
        "HealthyDeadline": 5 * MINUTE_NS,
    }
)
EPHEMERAL_DISK: Defaults = MappingProxyType({"Sticky": False, "SizeMB": 300, "Migrate": False})
DISCONNECT: Defaults = MappingProxyType({"Replace": True, "Reconcile": "best_score"})
PERIODIC: Defaults = MappingProxyType(
    {
        "Enabled": True,
        "Spec": "",
        "Specs": [],
        "SpecType": "cron",
        "ProhibitOverlap": False,
        "TimeZone": "UTC",
    }
)

_RESTART_LONG_RUNNING: Defaults = MappingProxyType(
    {
        "Attempts": 2,
        "Interval": 30 * MINUTE_NS,
        "Delay": 15 * SECOND_NS,
        "Mode": "fail",
        "RenderTemplates": False,
    }
)
_RESTART_BATCH: Defaults = MappingProxyType(
    {**_RESTART_LONG_RUNNING, "Attempts": 3, "Interval": 24 * HOUR_NS}
)
_RESTART = {BATCH: _RESTART_BATCH, SYSBATCH: _RESTART_BATCH}

_RESCHEDULE_SERVICE: Defaults = MappingProxyType(
    {
        "Attempts": 0,
        "Interval": 0,
        "Delay": 30 * SECOND_NS,
        "DelayFunction": "exponential",
        "MaxDelay": HOUR_NS,
        "Unlimited": True,
    }
)
_RESCHEDULE: dict[str, Defaults] = {
    SERVICE: _RESCHEDULE_SERVICE,
    BATCH: MappingProxyType(
        {
            "Attempts": 1,
            "Interval": 24 * HOUR_NS,
            "Delay": 5 * SECOND_NS,
            "DelayFunction": "constant",
            "MaxDelay": 0,
            "Unlimited": False,
        }
    ),
}
_RESCHEDULE_NONE: Defaults = MappingProxyType(
    {"Attempts": 0, "Interval": 0, "Delay": 0, "DelayFunction": "", "MaxDelay": 0, "Unlimited": False}
)


def job_update(given: Folded | None, *, job_type: str) -> Folded | None:
    """Complete the job's update block; only service and system jobs get one unasked."""
    if given is not None:
        return {**UPDATE, **given}
    return dict(UPDATE) if job_type in (SERVICE, SYSTEM) else None


def group_update(given: Folded | None, of_job: Folded | None) -> Folded | None:
    """Overlay the job's completed update block with the group's.

    An all-zero block, as servers show it for batch jobs, is not passed on.
    """
    if given is not None:
        return {**(of_job or UPDATE), **given}
    if of_job is None or not any(of_job.values()):
        return None
    return of_job


def group_reschedule(given: Folded | None, of_job: Folded | None, *, job_type: str) -> Folded | None:
    """Overlay the type's reschedule policy with the job's block and the group's."""
    defaults = _RESCHEDULE.get(job_type)
    if defaults is None:
        if given is None and of_job is None:
            return None
        defaults = _RESCHEDULE_NONE
    return {**defaults, **(of_job or {}), **(given or {})}


def group_migrate(given: Folded | None, of_job: Folded | None, *, job_type: str) -> Folded | None:
    """Overlay the migrate defaults, which only services get unasked, with the job's and group's blocks."""
    if job_type != SERVICE and given is None and of_job is None:
        return None
    return {**MIGRATE, **(of_job or {}), **(given or {})}


def group_restart(given: Folded | None, *, job_type: str) -> Folded:
    """Overlay the type's restart policy with the group's block."""
    return {**_RESTART.get(job_type, _RESTART_LONG_RUNNING), **(given or {})}
