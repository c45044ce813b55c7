"""Jobs as lists show them."""

from __future__ import annotations

from yurt.model.job import Job
from yurt.model.job_summary import JobSummary
from yurt.model.policies import Multiregion
from yurt.model.wire import Nanoseconds, Wire


class JobListStub(Wire, frozen=True, kw_only=True):
    """A job in short."""

    id: str
    parent_id: str
    name: str
    namespace: str
    datacenters: tuple[str, ...] | None
    node_pool: str
    multiregion: Multiregion | None
    type: str
    priority: int
    periodic: bool
    parameterized_job: bool
    stop: bool
    status: str
    status_description: str
    job_summary: JobSummary | None
    create_index: int
    modify_index: int
    job_modify_index: int
    submit_time: Nanoseconds
    meta: dict[str, str] | None


def job_stub(job: Job, summary: JobSummary | None, *, with_meta: bool) -> JobListStub:
    """Show a job in short."""
    return JobListStub(
        id=job.id,
        parent_id=job.parent_id,
        name=job.name,
        namespace=job.namespace,
        datacenters=job.datacenters,
        node_pool=job.node_pool,
        multiregion=job.multiregion,
        type=job.type,
        priority=job.priority,
        periodic=job.is_periodic,
        parameterized_job=job.is_parameterized,
        stop=job.stop,
        status=job.status,
        status_description=job.status_description,
        job_summary=summary,
        create_index=job.create_index,
        modify_index=job.modify_index,
        job_modify_index=job.job_modify_index,
        submit_time=job.submit_time,
        meta=job.meta if with_meta else None,
    )
