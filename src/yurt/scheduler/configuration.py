"""The scheduler configuration that holds for a job."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.job import Job
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.state.state import State

# A key of a job's meta, so that its file stays one that Nomad reads.
ALGORITHM_META = "yurt.algorithm"


def effective_configuration(
    state: State, job: Job, configuration: SchedulerConfiguration
) -> SchedulerConfiguration:
    """The cluster's configuration, with what the job's node pool does differently, and the job itself."""
    configuration = _of_pool(state, job, configuration)
    wanted = wanted_algorithm(job)
    if wanted and wanted != configuration.scheduler_algorithm:
        return replace(configuration, scheduler_algorithm=wanted)
    return configuration


def wanted_algorithm(job: Job) -> str:
    """The placement algorithm that a job names in its meta; empty for none."""
    return (job.meta or {}).get(ALGORITHM_META, "")


def _of_pool(state: State, job: Job, configuration: SchedulerConfiguration) -> SchedulerConfiguration:
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
