"""Claims of groups on volumes that they want to find again."""

from __future__ import annotations

from yurt.model.wire import DEFAULT_NAMESPACE, AllocID, JobID, Wire


class VolumeClaim(Wire, frozen=True, kw_only=True):
    """A group's claim on one volume, made by its first allocation there and kept when that ends.

    `alloc_id` is the allocation that used the volume last.
    """

    id: str
    namespace: str = DEFAULT_NAMESPACE
    job_id: JobID
    task_group_name: str
    alloc_id: AllocID
    volume_id: str
    volume_name: str
    create_index: int = 0
    modify_index: int = 0
