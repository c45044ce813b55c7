"""Applying what is said about single versions of jobs, and about their scaling."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.job import Job, JobKey
from yurt.model.scaling_event import SCALING_EVENTS_MAX, JobScalingEvents, ScalingEvent
from yurt.model.wire import JobID
from yurt.state.entries import RecordScaling, SetJobStability, TagJobVersion
from yurt.state.state import State


def set_job_stability(state: State, index: int, entry: SetJobStability) -> bool:
    """Mark a version as stable or not; says whether there is such a version."""
    job = _version(state, entry.namespace, entry.job_id, entry.version)
    if job is None:
        return False
    _store_version(state, index, replace(job, stable=entry.stable, modify_index=index))
    return True


def tag_job_version(state: State, index: int, entry: TagJobVersion) -> bool:
    """Name a version or take its name away; says whether there is such a version."""
    job = _version(state, entry.namespace, entry.job_id, entry.version)
    if job is None:
        return False
    _store_version(state, index, replace(job, version_tag=entry.tag, modify_index=index))
    return True


def _store_version(state: State, index: int, job: Job) -> None:
    """Set one version; another that was kept for its tag or its stability may go, and its source with it."""
    state.jobs.put_version(job, index)
    versions = {kept.version for kept in state.jobs.versions[job.key]}
    state.submissions.keep_only(job.key, versions, index)


def record_scaling(state: State, index: int, entry: RecordScaling) -> None:
    """Add an event to a group's history."""
    key = JobKey(entry.namespace, JobID(entry.job_id))
    if key in state.jobs:
        add_scaling_event(state, index, key, entry.group, entry.event)


def add_scaling_event(state: State, index: int, key: JobKey, group: str, event: ScalingEvent) -> None:
    """Put an event before the group's earlier ones; the oldest beyond the limit goes."""
    stored = state.scaling_events.get(key) or JobScalingEvents(namespace=key.namespace, job_id=key.id)
    events = (replace(event, create_index=index), *stored.scaling_events.get(group, ()))
    state.scaling_events.put(
        key,
        replace(
            stored,
            scaling_events={**stored.scaling_events, group: events[:SCALING_EVENTS_MAX]},
            modify_index=index,
        ),
        index,
    )


def _version(state: State, namespace: str, job_id: str, version: int) -> Job | None:
    versions = state.jobs.versions.get(JobKey(namespace, JobID(job_id)), ())
    return next((job for job in versions if job.version == version), None)
