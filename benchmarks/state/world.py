"""States of any size, for benchmarks."""

from __future__ import annotations

from random import Random

from yurt.model.alloc import encode_task_states
from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedMemory,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.node import Node, NodeCpu, NodeDisk, NodeMemory, NodeResources
from yurt.model.plan import JobRef, Placements, PlanChanges
from yurt.model.task import Task
from yurt.model.task_state import TaskEvent, TaskState
from yurt.model.wire import AllocID, EvalID, JobID, NodeID
from yurt.scheduler.ids import new_id
from yurt.state import entries
from yurt.state.apply import apply
from yurt.state.apply_jobs import JobOutcome
from yurt.state.state import State

METRICS_BYTES = 300
REPORTS_PER_ENTRY = 100


def register_nodes(state: State, count: int, rng: Random) -> None:
    """Add `count` alike nodes."""
    for number in range(count):
        node = Node(
            id=NodeID(new_id(rng)),
            name=f"node-{number}",
            status="ready",
            node_resources=NodeResources(
                cpu=NodeCpu(cpu_shares=100_000),
                memory=NodeMemory(memory_mb=100_000),
                disk=NodeDisk(disk_mb=1_000_000),
            ),
        )
        _apply(state, entries.RegisterNode(at=1, node=node))


def fill(state: State, *, jobs: int, per_job: int, rng: Random) -> None:
    """Add jobs with allocations that run, spread over all nodes, as a log would have brought them."""
    node_ids = [node.id for node in state.nodes]
    for number in range(jobs):
        job = Job(
            id=JobID(f"job-{number}"),
            name=f"job-{number}",
            task_groups=(TaskGroup(name="g", count=per_job, tasks=(Task(name="t", driver="raw_exec"),)),),
        )
        outcome = _apply(state, entries.RegisterJob(at=1, job=job))
        assert isinstance(outcome, JobOutcome)
        assert outcome.job is not None
        ids = [AllocID(new_id(rng)) for _ in range(per_job)]
        placements = Placements(
            job=JobRef(job.namespace, job.id, outcome.job.create_index, outcome.job.version),
            task_group="g",
            eval_id=EvalID(new_id(rng)),
            resources=_resources(),
            ids=ids,
            name_indexes=list(range(per_job)),
            node_ids=[node_ids[rng.randrange(len(node_ids))] for _ in range(per_job)],
            metrics=bytes(METRICS_BYTES),
        )
        changes = PlanChanges(placements=(placements,))
        _apply(state, entries.CommitPlan(at=2, eval_id=EvalID(new_id(rng)), changes=changes))
        for start in range(0, per_job, REPORTS_PER_ENTRY):
            reports = tuple(_running(alloc_id) for alloc_id in ids[start : start + REPORTS_PER_ENTRY])
            _apply(state, entries.ReportAllocs(at=3, reports=reports))


def _apply(state: State, entry: entries.Entry) -> object:
    """Apply an entry as a restart would: from its bytes."""
    outcome = apply(state, state.index + 1, entries.decode_entry(entries.encode_entry(entry)))
    state.take_news()
    return outcome


def _resources() -> AllocatedResources:
    return AllocatedResources(
        tasks={
            "t": AllocatedTaskResources(
                cpu=AllocatedCpu(cpu_shares=100), memory=AllocatedMemory(memory_mb=30)
            )
        },
        task_lifecycles={"t": None},
        shared=AllocatedShared(disk_mb=100),
    )


def _running(alloc_id: AllocID) -> entries.AllocReport:
    state = TaskState(
        state="running",
        started_at="2026-01-01T00:00:00.123456789Z",
        events=(
            TaskEvent(type="Received", time=1_800_000_000_000_000_000),
            TaskEvent(
                type="Task Setup",
                time=1_800_000_000_000_000_001,
                message="Building Task Directory",
                details={"message": "Building Task Directory"},
            ),
            TaskEvent(type="Started", time=1_800_000_000_000_000_002),
        ),
    )
    return entries.AllocReport(
        id=alloc_id,
        client_status="running",
        client_description="Tasks are running",
        task_states=encode_task_states({"t": state}),
    )
