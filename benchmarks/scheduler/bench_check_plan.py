"""Time verifying plans on 10,000 nodes."""

from __future__ import annotations

from benchmarks.scheduler.cluster import a_cluster, a_job, place, seconds
from yurt.model.job import Job
from yurt.model.plan import JobRef, Placements, Plan, PlanChanges
from yurt.model.wire import AllocID, EvalID
from yurt.scheduler.check_plan import check_plan
from yurt.scheduler.requests import PlacedGroup
from yurt.scheduler.view import View

INSTANCES = 10_000
TARGETS = {"large_plan_ms": "<= 10", "small_plan_us": "<= 100"}


def run() -> dict[str, float]:
    """Return the time to verify one plan of 10,000 placements, and one of a single placement."""
    state = a_cluster()
    large = _plan(a_job("large", count=INSTANCES), View(state), INSTANCES)
    small = _plan(a_job("small"), View(state), 1)
    view = View(state)
    return {
        "large_plan_ms": seconds(lambda: check_plan(view, large)) * 1e3,
        "small_plan_us": seconds(lambda: check_plan(view, small), rounds=100) * 1e6,
        "view_us": seconds(lambda: View(state), rounds=100) * 1e6,
    }


def _plan(job: Job, view: View, count: int) -> Plan:
    result: PlacedGroup = place(view, job, count)
    placements = Placements(
        job=JobRef(job.namespace, job.id, job.create_index, job.version),
        task_group="group",
        eval_id=EvalID("eval"),
        resources=result.placed[0].resources,
        ids=[AllocID(f"new-{number}") for number in range(len(result.placed))],
        name_indexes=list(range(len(result.placed))),
        node_ids=[one.node_id for one in result.placed],
    )
    changes = PlanChanges(placements=(placements,))
    return Plan(eval_id=EvalID("eval"), priority=50, snapshot_index=0, changes=changes)
