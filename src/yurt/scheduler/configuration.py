"""The scheduler configuration that holds for a job."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.job import Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.state.state import State


def effective_configuration(
    state: State, job: Job, configuration: SchedulerConfiguration
) -> SchedulerConfiguration:
    """The cluster's configuration, with what the job's node pool does differently."""
    pool = state.node_pools.get(job.node_pool)
    own = pool.scheduler_configuration if pool is not None else None
    if own is None:
        return configuration
    oversubscribe = own.memory_oversubscription_enabled
    return replace(
        configuration,
        scheduler_algorithm=own.scheduler_algorithm or configuration.scheduler_algorithm,
        memory_oversubscription_enabled=(
            configuration.memory_oversubscription_enabled if oversubscribe is None else oversubscribe
        ),
    )
