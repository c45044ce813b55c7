"""Jobs as the API shows them, in short and in part."""

from __future__ import annotations

from collections.abc import Iterable

from yurt.model.alloc import CLIENT_RUNNING, Allocation
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.job_summary import JobSummary
from yurt.model.policies import Multiregion
from yurt.model.scaling_event import JobScalingEvents, ScalingEvent
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


class JobAction(Wire, frozen=True, kw_only=True):
    """A command that a task offers to run."""

    name: str
    command: str
    args: tuple[str, ...] | None
    task_name: str
    task_group_name: str


def job_actions(job: Job) -> list[JobAction]:
    """The actions of all tasks of a job."""
    return [
        JobAction(
            name=action.name,
            command=action.command,
            args=action.args or None,
            task_name=task.name,
            task_group_name=group.name,
        )
        for group in job.task_groups
        for task in group.tasks
        for action in task.actions or ()
    ]


class GroupScaleStatus(Wire, frozen=True, kw_only=True):
    """How many instances of a group are wanted, and how they are."""

    desired: int
    placed: int
    running: int
    healthy: int
    unhealthy: int
    events: tuple[ScalingEvent, ...] | None


class JobScaleStatus(Wire, frozen=True, kw_only=True):
    """How far a job is scaled."""

    job_id: str
    namespace: str
    job_create_index: int
    job_modify_index: int
    job_stopped: bool
    task_groups: dict[str, GroupScaleStatus]


def scale_status(job: Job, allocs: Iterable[Allocation], events: JobScalingEvents | None) -> JobScaleStatus:
    """Show how far a job is scaled; allocations that are over do not count."""
    live = [alloc for alloc in allocs if not alloc.is_terminal and alloc.job.create_index == job.create_index]
    return JobScaleStatus(
        job_id=job.id,
        namespace=job.namespace,
        job_create_index=job.create_index,
        # As in Nomad this is the index of any change, not only of the specification.
        job_modify_index=job.modify_index,
        job_stopped=job.stop,
        task_groups={
            group.name: _group_scale(
                group, [alloc for alloc in live if alloc.task_group == group.name], events
            )
            for group in job.task_groups
        },
    )


def _group_scale(
    group: TaskGroup, live: list[Allocation], events: JobScalingEvents | None
) -> GroupScaleStatus:
    health = [alloc.deployment_status.healthy for alloc in live if alloc.deployment_status is not None]
    return GroupScaleStatus(
        desired=group.count,
        placed=len(live),
        running=sum(alloc.client_status == CLIENT_RUNNING for alloc in live),
        healthy=health.count(True),
        unhealthy=health.count(False),
        events=events.scaling_events.get(group.name) if events is not None else None,
    )
