"""New allocations in the form of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from yurt.model.alloc import AllocDeploymentStatus, RescheduleTracker
from yurt.model.job import Job
from yurt.model.plan import JobRef, PlacementDetail, Placements, Preemption
from yurt.model.wire import AllocID, DeploymentID, EvalID
from yurt.scheduler.requests import Placed, PlaceRequest

_CANARY = AllocDeploymentStatus(canary=True)
_NOTHING = PlacementDetail()


def ref_to(job: Job) -> JobRef:
    """Name a job version in a plan."""
    return JobRef(job.namespace, job.id, job.create_index, job.version)


def no_tracker(request: PlaceRequest) -> RescheduleTracker | None:
    """For placements that place nothing anew."""
    return None


def new_placements(
    job: Job,
    group: str,
    placed: Sequence[Placed],
    *,
    eval_id: EvalID,
    deployment_id: DeploymentID,
    new_id: Callable[[], str],
    tracker_of: Callable[[PlaceRequest], RescheduleTracker | None] = no_tracker,
) -> tuple[Placements, list[Preemption]]:
    """Give instances of one group that found nodes their ids; `placed` is not empty.

    What most of them share stands once; `tracker_of` says what a placement remembers of earlier ones.
    """
    shared = placed[0]
    ids = [AllocID(new_id()) for _ in placed]
    details: dict[int, PlacementDetail] = {}
    preemptions: list[Preemption] = []
    for position, (one, alloc_id) in enumerate(zip(placed, ids, strict=True)):
        preemptions += [Preemption(victim, alloc_id) for victim in one.preempted]
        previous = one.request.previous
        detail = PlacementDetail(
            resources=one.resources if one.resources is not shared.resources else None,
            metrics=one.metrics if one.metrics is not shared.metrics else None,
            previous_allocation=previous.id if previous is not None else "",
            deployment_status=_CANARY if one.request.is_canary else None,
            reschedule_tracker=tracker_of(one.request),
            preempted_allocations=one.preempted,
        )
        if detail != _NOTHING:
            details[position] = detail
    placements = Placements(
        job=ref_to(job),
        task_group=group,
        eval_id=eval_id,
        resources=shared.resources,
        ids=ids,
        name_indexes=[one.request.name_index for one in placed],
        node_ids=[one.node_id for one in placed],
        metrics=shared.metrics,
        deployment_id=deployment_id,
        details=details,
    )
    return placements, preemptions
