"""The parts of a plan that need no node: stops, updates in place, notes about allocations."""

from __future__ import annotations

from collections.abc import Iterable

from yurt.model.alloc import Allocation
from yurt.model.job import Job
from yurt.model.plan import StopAllocs, UpdateAlloc
from yurt.model.wire import AllocID, DeploymentID, EvalID
from yurt.scheduler.kinds.placements import ref_to
from yurt.scheduler.reconcile.changes import LOST, Stop
from yurt.scheduler.reconcile.updates import InPlace


def stops_of(stops: Iterable[Stop]) -> tuple[StopAllocs, ...]:
    """Bring stops into the form of a plan: those for the same reason together, none twice."""
    by_reason: dict[tuple[str, str, str], dict[AllocID, None]] = {}
    seen: set[AllocID] = set()
    for stop in stops:
        if stop.alloc.id not in seen:
            seen.add(stop.alloc.id)
            reason = (stop.description, stop.client_status, stop.followup_eval_id)
            by_reason.setdefault(reason, {})[stop.alloc.id] = None
    return tuple(
        StopAllocs(ids=list(ids), description=text, client_status=status, followup_eval_id=followup)
        for (text, status, followup), ids in by_reason.items()
    )


def lost(allocs: Iterable[Allocation]) -> list[Stop]:
    """Allocations that were told to stop, on nodes that will never say that they did."""
    return [Stop(alloc=alloc, description=LOST, client_status="lost") for alloc in allocs]


def updates_in_place(
    in_place: Iterable[InPlace], job: Job, *, eval_id: EvalID, deployment_id: DeploymentID
) -> list[UpdateAlloc]:
    """Give instances a new job version where they are. In another deployment, health starts over."""
    ref = ref_to(job)
    return [
        UpdateAlloc(
            id=one.alloc.id,
            job=ref,
            eval_id=eval_id,
            resources=one.resources if one.resources is not one.alloc.resources else None,
            deployment_id=deployment_id,
            clear_deployment_status=one.alloc.deployment_id != deployment_id,
        )
        for one in in_place
    ]
