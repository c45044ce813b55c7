"""Plans made from placements."""

from __future__ import annotations

from collections.abc import Sequence

from yurt.model.alloc import Allocation
from yurt.model.job import Job
from yurt.model.plan import (
    JobRef,
    PlacementDetail,
    Placements,
    Plan,
    PlanChanges,
    Preemption,
    StopAllocs,
    UpdateAlloc,
)
from yurt.model.wire import AllocID, EvalID
from yurt.scheduler.requests import Placed


def a_plan(
    job: Job,
    placed: Sequence[Placed],
    *,
    name: str = "p",
    stops: Sequence[Allocation] = (),
    updates: Sequence[UpdateAlloc] = (),
    all_at_once: bool = False,
) -> Plan:
    """A plan that places `placed`, displaces what they displace and stops `stops`."""
    ids = [AllocID(f"{name}-{number}") for number in range(len(placed))]
    placements: tuple[Placements, ...] = ()
    if placed:
        details = {
            number: PlacementDetail(resources=one.resources)
            for number, one in enumerate(placed)
            if one.resources is not placed[0].resources
        }
        placements = (
            Placements(
                job=JobRef(job.namespace, job.id, job.create_index, job.version),
                task_group=job.task_groups[0].name,
                eval_id=EvalID(name),
                resources=placed[0].resources,
                ids=ids,
                name_indexes=[one.request.name_index for one in placed],
                node_ids=[one.node_id for one in placed],
                details=details,
            ),
        )
    return Plan(
        eval_id=EvalID(name),
        priority=job.priority,
        snapshot_index=0,
        all_at_once=all_at_once,
        changes=PlanChanges(
            placements=placements,
            stops=(StopAllocs(ids=[alloc.id for alloc in stops], description="stop"),) if stops else (),
            updates=tuple(updates),
            preemptions=tuple(
                Preemption(victim, alloc_id)
                for one, alloc_id in zip(placed, ids, strict=True)
                for victim in one.preempted
            ),
        ),
    )
