"""Forms of the policies of jobs, groups and tasks."""

from __future__ import annotations

from typing import Any

from yurt.model.go_types import Duration, Int8, Int64, Uint8, Uint64
from yurt.model.wire import Wire


class UpdateStrategyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.UpdateStrategy`."""

    stagger: Duration | None = None
    max_parallel: int | None = None
    health_check: str | None = None
    min_healthy_time: Duration | None = None
    healthy_deadline: Duration | None = None
    progress_deadline: Duration | None = None
    auto_revert: bool | None = None
    auto_promote: bool | None = None
    canary: int | None = None


class ReschedulePolicyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.ReschedulePolicy`."""

    attempts: int | None = None
    interval: Duration | None = None
    delay: Duration | None = None
    delay_function: str | None = None
    max_delay: Duration | None = None
    unlimited: bool | None = None


class RestartPolicyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.task_parts.RestartPolicy`."""

    attempts: int | None = None
    interval: Duration | None = None
    delay: Duration | None = None
    mode: str | None = None
    render_templates: bool | None = None


class MigrateStrategyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.MigrateStrategy`."""

    max_parallel: int | None = None
    health_check: str | None = None
    min_healthy_time: Duration | None = None
    healthy_deadline: Duration | None = None


class DisconnectStrategyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.DisconnectStrategy`."""

    lost_after: Duration | None = None
    stop_on_client_after: Duration | None = None
    replace: bool | None = None
    reconcile: str | None = None


class EphemeralDiskForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.EphemeralDisk`."""

    sticky: bool | None = None
    size_mb: int | None = None
    migrate: bool | None = None


class ScalingPolicyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.ScalingPolicy`."""

    id: str = ""
    namespace: str = ""
    type: str = ""
    target: dict[str, str] | None = None
    policy: dict[str, Any] | None = None
    min: Int64 | None = None
    max: Int64 | None = None
    enabled: bool | None = None
    create_index: Uint64 = 0
    modify_index: Uint64 = 0


class PeriodicConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.PeriodicConfig`."""

    enabled: bool | None = None
    spec: str | None = None
    specs: list[str] | None = None
    spec_type: str | None = None
    prohibit_overlap: bool | None = None
    time_zone: str | None = None


class ParameterizedJobConfigForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.ParameterizedJobConfig`."""

    payload: str = ""
    meta_required: list[str] | None = None
    meta_optional: list[str] | None = None


class MultiregionStrategyForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.MultiregionStrategy`."""

    max_parallel: int | None = None
    on_failure: str | None = None


class MultiregionRegionForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.MultiregionRegion`."""

    name: str = ""
    count: int | None = None
    datacenters: list[str] | None = None
    node_pool: str = ""
    meta: dict[str, str] | None = None


class MultiregionForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.policies.Multiregion`."""

    strategy: MultiregionStrategyForm | None = None
    regions: list[MultiregionRegionForm] | None = None


class AffinityForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.placement_rules.Affinity`."""

    ltarget: str = ""
    rtarget: str = ""
    operand: str = ""
    weight: Int8 | None = None


class SpreadTargetForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.placement_rules.SpreadTarget`."""

    value: str = ""
    percent: Uint8 = 0


class SpreadForm(Wire, frozen=True, kw_only=True):
    """See `yurt.model.placement_rules.Spread`."""

    attribute: str = ""
    weight: Int8 | None = None
    spread_target: list[SpreadTargetForm] | None = None
