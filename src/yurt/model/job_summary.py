"""Counters of a job's allocations and children."""

from __future__ import annotations

from yurt.model.wire import DEFAULT_NAMESPACE, JobID, Wire


class TaskGroupSummary(Wire, frozen=True, kw_only=True):
    """How many allocations of a group are in which state."""

    queued: int = 0
    complete: int = 0
    failed: int = 0
    running: int = 0
    starting: int = 0
    lost: int = 0
    unknown: int = 0


class JobChildrenSummary(Wire, frozen=True, kw_only=True):
    """How many children of a job are in which state."""

    pending: int = 0
    running: int = 0
    dead: int = 0


class JobSummary(Wire, frozen=True, kw_only=True):
    """Counters of a job."""

    job_id: JobID
    namespace: str = DEFAULT_NAMESPACE
    summary: dict[str, TaskGroupSummary] = {}
    children: JobChildrenSummary | None = JobChildrenSummary()
    create_index: int = 0
    modify_index: int = 0
