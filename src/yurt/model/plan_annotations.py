"""What a plan would change, for people."""

from __future__ import annotations

from yurt.model.alloc import Allocation, AllocDeploymentStatus
from yurt.model.wire import Nanoseconds, Wire


class DesiredUpdates(Wire, frozen=True, kw_only=True):
    """How many allocations of a group a plan touches, and how."""

    ignore: int = 0
    place: int = 0
    migrate: int = 0
    stop: int = 0
    in_place_update: int = 0
    destructive_update: int = 0
    canary: int = 0
    preemptions: int = 0
    disconnect: int = 0
    reconnect: int = 0
    reschedule_now: int = 0
    reschedule_later: int = 0


class PreemptedAlloc(Wire, frozen=True, kw_only=True):
    """An allocation that a plan displaces, in short, as it was when it was chosen."""

    id: str = ""
    eval_id: str = ""
    name: str = ""
    namespace: str = ""
    node_id: str = ""
    node_name: str = ""
    job_id: str = ""
    job_type: str = ""
    job_version: int = 0
    task_group: str = ""
    desired_status: str = ""
    desired_description: str = ""
    client_status: str = ""
    client_description: str = ""
    deployment_status: AllocDeploymentStatus | None = None
    create_index: int = 0
    modify_index: int = 0
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0

    @classmethod
    def of(cls, alloc: Allocation) -> PreemptedAlloc:
        """Keep of an allocation what tells it from others."""
        return cls(
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
            desired_status=alloc.desired_status,
            desired_description=alloc.desired_description,
            client_status=alloc.client_status,
            client_description=alloc.client_description,
            deployment_status=alloc.deployment_status,
            create_index=alloc.create_index,
            modify_index=alloc.modify_index,
            create_time=alloc.create_time,
            modify_time=alloc.modify_time,
        )


class PlanAnnotations(Wire, frozen=True, kw_only=True):
    """What a plan would change."""

    desired_tg_updates: dict[str, DesiredUpdates] | None = None
    preempted_allocs: tuple[PreemptedAlloc, ...] | None = None
