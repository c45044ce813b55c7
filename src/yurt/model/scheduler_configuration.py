"""How the cluster schedules."""

from __future__ import annotations

from yurt.model.wire import Wire, wire_names


class PreemptionConfig(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(sysbatch_scheduler_enabled="SysBatchSchedulerEnabled"),
):
    """Which kinds of job may displace others."""

    system_scheduler_enabled: bool = True
    sysbatch_scheduler_enabled: bool = False
    batch_scheduler_enabled: bool = False
    service_scheduler_enabled: bool = False


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
