"""Policies of jobs and groups: updates, rescheduling, migration, disconnects, scaling, launches."""

from __future__ import annotations

from typing import Any

from yurt.model.wire import Nanoseconds, Wire


class UpdateStrategy(Wire, frozen=True, kw_only=True):
    """How a new job version replaces the old one."""

    stagger: Nanoseconds = 0
    max_parallel: int = 0
    health_check: str = ""
    min_healthy_time: Nanoseconds = 0
    healthy_deadline: Nanoseconds = 0
    progress_deadline: Nanoseconds = 0
    auto_revert: bool = False
    auto_promote: bool = False
    canary: int = 0


class ReschedulePolicy(Wire, frozen=True, kw_only=True):
    """Whether and when a failed allocation is placed anew."""

    attempts: int = 0
    interval: Nanoseconds = 0
    delay: Nanoseconds = 0
    delay_function: str = ""
    max_delay: Nanoseconds = 0
    unlimited: bool = False


class MigrateStrategy(Wire, frozen=True, kw_only=True):
    """How allocations leave a draining node."""

    max_parallel: int = 1
    health_check: str = "checks"
    min_healthy_time: Nanoseconds = 0
    healthy_deadline: Nanoseconds = 0


class DisconnectStrategy(Wire, frozen=True, kw_only=True):
    """What happens to allocations whose node falls silent."""

    lost_after: Nanoseconds = 0
    stop_on_client_after: Nanoseconds | None = None
    replace: bool | None = True
    reconcile: str = "best_score"


class EphemeralDisk(Wire, frozen=True, kw_only=True):
    """The disk shared by the tasks of a group."""

    sticky: bool = False
    size_mb: int = 300
    migrate: bool = False


class ScalingPolicy(Wire, frozen=True, kw_only=True):
    """Bounds and rules for an autoscaler."""

    id: str = ""
    type: str = "horizontal"
    target: dict[str, str] | None = None
    policy: dict[str, Any] | None = None
    min: int = 0
    max: int = 0
    enabled: bool = True
    create_index: int = 0
    modify_index: int = 0


class PeriodicConfig(Wire, frozen=True, kw_only=True):
    """When a periodic job launches its children."""

    enabled: bool = True
    spec: str = ""
    specs: tuple[str, ...] | None = ()
    spec_type: str = "cron"
    prohibit_overlap: bool = False
    time_zone: str = "UTC"


class ParameterizedJobConfig(Wire, frozen=True, kw_only=True):
    """What a dispatch must and may carry."""

    payload: str = "optional"
    meta_required: tuple[str, ...] | None = None
    meta_optional: tuple[str, ...] | None = None


class MultiregionStrategy(Wire, frozen=True, kw_only=True):
    """How a multi-region job rolls out."""

    max_parallel: int = 0
    on_failure: str = ""


class MultiregionRegion(Wire, frozen=True, kw_only=True):
    """One region of a multi-region job."""

    name: str = ""
    count: int = 0
    datacenters: tuple[str, ...] | None = None
    node_pool: str = ""
    meta: dict[str, str] | None = None


class Multiregion(Wire, frozen=True, kw_only=True):
    """The regions of a job."""

    strategy: MultiregionStrategy | None = None
    regions: tuple[MultiregionRegion, ...] | None = None
