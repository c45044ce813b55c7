"""How the cluster schedules."""

from __future__ import annotations

import msgspec

from yurt.model.wire import Wire, wire_names

PRIORITY_DELTA_DEFAULT = 10


class PreemptionConfig(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(sysbatch_scheduler_enabled="SysBatchSchedulerEnabled"),
):
    """Which kinds of job may displace others, and how much less important these must be.

    `priority_delta` is left out of answers unless it was set: Nomad has no such member.
    """

    system_scheduler_enabled: bool = True
    sysbatch_scheduler_enabled: bool = False
    batch_scheduler_enabled: bool = False
    service_scheduler_enabled: bool = False
    priority_delta: int | msgspec.UnsetType = msgspec.UNSET

    @property
    def priority_delta_min(self) -> int:
        """By how much the priority of a job must be below that of the one it makes room for."""
        delta = self.priority_delta
        return PRIORITY_DELTA_DEFAULT if isinstance(delta, msgspec.UnsetType) else delta


class SchedulerConfiguration(Wire, frozen=True, kw_only=True):
    """How the cluster schedules."""

    scheduler_algorithm: str = "binpack"
    preemption_config: PreemptionConfig = PreemptionConfig()
    memory_oversubscription_enabled: bool = False
    reject_job_registration: bool = False
    pause_eval_broker: bool = False
    node_limit_for_feasibility_checks: int = 0
    create_index: int = 0
    modify_index: int = 0
