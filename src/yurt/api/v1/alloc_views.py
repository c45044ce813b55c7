"""Allocations as the API shows them."""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec.structs import force_setattr

from yurt.api.v1.payloads import with_plain_payload
from yurt.model.alloc import (
    Allocation,
    AllocDeploymentStatus,
    AllocStateChange,
    DesiredTransition,
    NetworkStatus,
    RescheduleTracker,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.allocated import AllocatedResources
from yurt.model.job import Job
from yurt.model.resources import Resources
from yurt.model.task_events import display_message
from yurt.model.task_state import TASK_PENDING, TaskEvent
from yurt.model.wire import Nanoseconds, SparseWire, Time, Wire

_decode_metric = msgspec.msgpack.Decoder(AllocMetric).decode


class TaskEventView(TaskEvent, frozen=True, kw_only=True, omit_defaults=False):
    """A task event with every member."""


class TaskStateView(Wire, frozen=True, kw_only=True):
    """A task state with every member."""

    state: str = TASK_PENDING
    failed: bool = False
    restarts: int = 0
    last_restart: Time = None
    started_at: Time = None
    finished_at: Time = None
    events: tuple[TaskEventView, ...] | None = None
    paused: str = ""


_decode_views = msgspec.msgpack.Decoder(dict[str, TaskStateView]).decode


class AllocView(SparseWire, frozen=True, kw_only=True):
    """A whole allocation; what is empty is left out."""

    id: str = ""
    namespace: str = ""
    eval_id: str = ""
    name: str = ""
    node_id: str = ""
    node_name: str = ""
    job_id: str = ""
    job: Job | None = None
    task_group: str = ""
    resources: Resources | None = None
    shared_resources: Resources | None = None
    task_resources: dict[str, Resources] | None = None
    allocated_resources: AllocatedResources | None = None
    metrics: AllocMetric | None = None
    desired_status: str = ""
    desired_description: str = ""
    desired_transition: DesiredTransition | None = None
    client_status: str = ""
    client_description: str = ""
    task_states: dict[str, TaskStateView] | None = None
    alloc_states: tuple[AllocStateChange, ...] = ()
    previous_allocation: str = ""
    next_allocation: str = ""
    deployment_id: str = ""
    deployment_status: AllocDeploymentStatus | None = None
    reschedule_tracker: RescheduleTracker | None = None
    followup_eval_id: str = ""
    preempted_allocations: tuple[str, ...] = ()
    preempted_by_allocation: str = ""
    network_status: NetworkStatus | None = None
    signing_key_id: str = ""
    create_index: int = 0
    modify_index: int = 0
    alloc_modify_index: int = 0
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0


class AllocListStub(Wire, frozen=True, kw_only=True):
    """An allocation in short; every member is there."""

    id: str
    eval_id: str
    name: str
    namespace: str
    node_id: str
    node_name: str
    job_id: str
    job_type: str
    job_version: int
    task_group: str
    allocated_resources: AllocatedResources | None
    desired_status: str
    desired_description: str
    client_status: str
    client_description: str
    desired_transition: DesiredTransition
    task_states: dict[str, TaskStateView] | None
    deployment_status: AllocDeploymentStatus | None
    followup_eval_id: str
    next_allocation: str
    reschedule_tracker: RescheduleTracker | None
    preempted_allocations: tuple[str, ...] | None
    preempted_by_allocation: str
    create_index: int
    modify_index: int
    create_time: Nanoseconds
    modify_time: Nanoseconds


def alloc_view(alloc: Allocation, *, with_job: bool = True, signing_key_id: str = "") -> AllocView:
    """Show a whole allocation; `signing_key_id` is the key of its identities."""
    total, shared, tasks = legacy_resources(alloc.resources)
    transition = alloc.desired_transition
    return AllocView(
        id=alloc.id,
        namespace=alloc.namespace,
        eval_id=alloc.eval_id,
        name=alloc.name,
        node_id=alloc.node_id,
        node_name=alloc.node_name,
        job_id=alloc.job_id,
        job=with_plain_payload(alloc.job) if with_job else None,
        task_group=alloc.task_group,
        resources=total,
        shared_resources=shared,
        task_resources=tasks,
        allocated_resources=alloc.resources,
        metrics=alloc_metric(alloc.metrics),
        desired_status=alloc.desired_status,
        desired_description=alloc.desired_description,
        desired_transition=transition if transition != DesiredTransition() else None,
        client_status=alloc.client_status,
        client_description=alloc.client_description,
        task_states=task_state_views(alloc.task_states),
        alloc_states=alloc.alloc_states,
        previous_allocation=alloc.previous_allocation,
        next_allocation=alloc.next_allocation,
        deployment_id=alloc.deployment_id,
        deployment_status=alloc.deployment_status,
        reschedule_tracker=alloc.reschedule_tracker,
        followup_eval_id=alloc.followup_eval_id,
        preempted_allocations=alloc.preempted_allocations,
        preempted_by_allocation=alloc.preempted_by_allocation,
        network_status=alloc.network_status,
        signing_key_id=signing_key_id,
        create_index=alloc.create_index,
        modify_index=alloc.modify_index,
        alloc_modify_index=alloc.alloc_modify_index,
        create_time=alloc.create_time,
        modify_time=alloc.modify_time,
    )


def alloc_stub(
    alloc: Allocation,
    *,
    with_resources: bool = False,
    with_task_states: bool = True,
    with_messages: bool = True,
) -> AllocListStub:
    """Show an allocation in short."""
    return AllocListStub(
        id=alloc.id,
        eval_id=alloc.eval_id,
        name=alloc.name,
        namespace=alloc.namespace,
        node_id=alloc.node_id,
        node_name=alloc.node_name,
        job_id=alloc.job_id,
        job_type=alloc.job.type,
        job_version=alloc.job.version,
        task_group=alloc.task_group,
        allocated_resources=alloc.resources if with_resources else None,
        desired_status=alloc.desired_status,
        desired_description=alloc.desired_description,
        client_status=alloc.client_status,
        client_description=alloc.client_description,
        desired_transition=alloc.desired_transition or _NO_TRANSITION,
        task_states=(
            task_state_views(alloc.task_states, with_messages=with_messages) if with_task_states else None
        ),
        deployment_status=alloc.deployment_status,
        followup_eval_id=alloc.followup_eval_id,
        next_allocation=alloc.next_allocation,
        reschedule_tracker=alloc.reschedule_tracker,
        preempted_allocations=alloc.preempted_allocations or None,
        preempted_by_allocation=alloc.preempted_by_allocation,
        create_index=alloc.create_index,
        modify_index=alloc.modify_index,
        create_time=alloc.create_time,
        modify_time=alloc.modify_time,
    )


def alloc_metric(encoded: bytes) -> AllocMetric | None:
    """Why an allocation went where it went."""
    return _decode_metric(encoded) if encoded else None


_NO_TRANSITION = DesiredTransition()


def task_state_views(encoded: bytes, *, with_messages: bool = True) -> dict[str, TaskStateView] | None:
    """Show task states with every member, their events told in words."""
    if not encoded:
        return None
    # State's encoding leaves out what is empty; these types put it back. There are many events in a long
    # list, so they are not copied a second time to get their message: nobody else has them yet.
    views = _decode_views(encoded)
    if with_messages:
        for view in views.values():
            for event in view.events or ():
                force_setattr(event, "display_message", display_message(event))
    return views


@lru_cache(maxsize=4096)
def _legacy(resources: _ById) -> tuple[Resources, Resources, dict[str, Resources]]:
    given = resources.resources
    tasks = {
        name: Resources(
            cpu=task.cpu.cpu_shares,
            cores=len(task.cpu.reserved_cores or ()),
            memory_mb=task.memory.memory_mb,
            memory_max_mb=task.memory.memory_max_mb,
            networks=task.networks,
        )
        for name, task in given.tasks.items()
    }
    shared = Resources(cpu=0, memory_mb=0, disk_mb=given.shared.disk_mb, networks=given.shared.networks)
    total = Resources(
        cpu=given.cpu_mhz,
        cores=sum(task.cores for task in tasks.values()),
        memory_mb=given.memory_mb,
        memory_max_mb=sum(task.memory_max_mb or task.memory_mb for task in tasks.values()),
        disk_mb=given.shared.disk_mb,
        networks=given.shared.networks,
    )
    return total, shared, tasks


class _ById:
    """Resources as a cache key: allocations share them by identity."""

    __slots__ = ("resources",)

    def __init__(self, resources: AllocatedResources) -> None:
        self.resources = resources

    def __hash__(self) -> int:
        return id(self.resources)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.resources is self.resources


def legacy_resources(
    resources: AllocatedResources,
) -> tuple[Resources, Resources, dict[str, Resources]]:
    """The older forms of an allocation's resources: in all, shared, by task."""
    return _legacy(_ById(resources))
