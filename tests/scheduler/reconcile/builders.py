"""Builders of jobs, allocations and nodes for tests of reconciling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count as counter
from typing import Any

from msgspec.structs import replace

from yurt.model.alloc import (
    Allocation,
    AllocDeploymentStatus,
    AllocStateChange,
    DesiredTransition,
    encode_task_states,
)
from yurt.model.allocated import AllocatedResources
from yurt.model.deployment import Deployment, DeploymentState
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_JOB_REGISTER, Evaluation
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH, SERVICE, Job
from yurt.model.node import (
    NODE_DISCONNECTED,
    NODE_DOWN,
    NODE_INELIGIBLE,
    NODE_READY,
    DrainStrategy,
    Node,
)
from yurt.model.policies import ReschedulePolicy, UpdateStrategy
from yurt.model.task import Task
from yurt.model.task_state import TASK_DEAD, TASK_RUNNING, TaskState
from yurt.model.times import MINUTE_NS, SECOND_NS, time_text
from yurt.model.wire import AllocID, DeploymentID, EvalID, JobID, Nanoseconds, NodeID
from yurt.scheduler.reconcile.changes import Changes
from yurt.scheduler.reconcile.job import Situation, reconcile
from yurt.scheduler.reconcile.tainted import tainted_nodes

NOW = 1_800_000_000 * SECOND_NS
EVAL = EvalID("this-eval")
DEPLOYMENT = DeploymentID("this-deployment")

UNLIMITED = ReschedulePolicy(
    unlimited=True, delay=30 * SECOND_NS, delay_function="exponential", max_delay=60 * MINUTE_NS
)
ROLLING = UpdateStrategy(max_parallel=1, progress_deadline=10 * MINUTE_NS)

NODES = {
    node.id: node
    for node in (
        *(Node(id=NodeID(f"ready-{n}"), name=f"ready-{n}", status=NODE_READY) for n in range(10)),
        Node(id=NodeID("down"), status=NODE_DOWN),
        Node(id=NodeID("disconnected"), status=NODE_DISCONNECTED),
        Node(
            id=NodeID("draining"),
            status=NODE_READY,
            drain_strategy=DrainStrategy(),
            scheduling_eligibility=NODE_INELIGIBLE,
        ),
        Node(
            id=NodeID("draining-and-down"),
            status=NODE_DOWN,
            drain_strategy=DrainStrategy(),
            scheduling_eligibility=NODE_INELIGIBLE,
        ),
    )
}


def a_group(name: str = "g", **changes: Any) -> TaskGroup:
    changes.setdefault("tasks", (Task(name="t", driver="mock", config={"run_for": "1h"}),))
    changes.setdefault("reschedule_policy", UNLIMITED)
    return TaskGroup(name=name, **changes)


def a_job(*groups: TaskGroup, kind: str = SERVICE, **changes: Any) -> Job:
    changes.setdefault("id", JobID("j"))
    return Job(
        type=kind,
        task_groups=groups or (a_group(count=3),),
        create_index=10,
        modify_index=11,
        job_modify_index=10,
        **changes,
    )


def changed(job: Job, **changes: Any) -> Job:
    """The next version of a job, with another environment: a change that needs new allocations."""
    changes.setdefault(
        "task_groups",
        tuple(
            replace(
                group, tasks=tuple(replace(task, env={"V": str(job.version + 1)}) for task in group.tasks)
            )
            for group in job.task_groups
        ),
    )
    return replace(job, version=job.version + 1, job_modify_index=job.job_modify_index + 10, **changes)


def an_alloc(
    job: Job,
    index: int = 0,
    *,
    node: str = "ready-0",
    group: str = "g",
    alloc_id: str = "",
    status: str = "running",
    unknown_since: Nanoseconds | None = None,
    healthy: bool | None = None,
    canary: bool = False,
    transition: DesiredTransition | None = None,
    finished_at: Nanoseconds | None = None,
    **changes: Any,
) -> Allocation:
    if healthy is not None or canary:
        changes.setdefault("deployment_status", AllocDeploymentStatus(healthy=healthy, canary=canary))
    if unknown_since is not None:
        changes.setdefault(
            "alloc_states", (AllocStateChange(value="unknown", time=time_text(unknown_since)),)
        )
    if finished_at is not None or status in ("complete", "failed"):
        ended = TaskState(
            state=TASK_DEAD, failed=status == "failed", finished_at=time_text(finished_at or NOW)
        )
        changes.setdefault("task_states", encode_task_states({"t": ended}))
    elif status == "running":
        changes.setdefault("task_states", encode_task_states({"t": TaskState(state=TASK_RUNNING)}))
    return Allocation(
        id=AllocID(alloc_id or f"{group}-{index}-v{job.version}-{node}"),
        job=job,
        task_group=group,
        name_index=index,
        node_id=NodeID(node),
        node_name=node,
        eval_id=EvalID("earlier"),
        resources=AllocatedResources(),
        client_status=status,
        desired_transition=transition,
        modify_time=NOW - MINUTE_NS,
        **changes,
    )


def allocs_of(job: Job, number: int, **changes: Any) -> list[Allocation]:
    """So many instances of a job, each on its own ready node."""
    return [an_alloc(job, index, node=f"ready-{index}", **changes) for index in range(number)]


def a_deployment(job: Job, state: DeploymentState, *, group: str = "g", **changes: Any) -> Deployment:
    changes.setdefault("id", DEPLOYMENT)
    return Deployment(
        job_id=job.id,
        job_version=job.version,
        job_create_index=job.create_index,
        task_groups={group: state},
        **changes,
    )


def an_eval(kind: str = SERVICE, **changes: Any) -> Evaluation:
    changes.setdefault("id", EVAL)
    changes.setdefault("triggered_by", TRIGGER_JOB_REGISTER)
    return Evaluation(
        namespace="default", priority=50, type=kind, job_id=JobID("j"), status=EVAL_PENDING, **changes
    )


def reconciled(
    job: Job | None,
    allocs: Sequence[Allocation] = (),
    *,
    deployment: Deployment | None = None,
    nodes: Mapping[NodeID, Node] = NODES,
    unfit: Iterable[AllocID] = (),
    now: Nanoseconds = NOW,
    evaluation: Evaluation | None = None,
) -> Changes:
    """Reconcile; every allocation fits where it is, except for `unfit`."""
    ids = counter()
    kind = BATCH if job is not None and job.type == BATCH else SERVICE

    def fits(_job: Job, _group: TaskGroup, asked: Sequence[Allocation]) -> dict[AllocID, AllocatedResources]:
        return {alloc.id: alloc.resources for alloc in asked if alloc.id not in unfit}

    return reconcile(
        Situation(
            evaluation=evaluation or an_eval(kind),
            job=job,
            allocs=allocs,
            tainted=tainted_nodes(allocs, nodes.get),
            deployment=deployment,
            now=now,
            find_node=nodes.get,
            fits_in_place=fits,
            new_id=lambda: f"new-{next(ids)}",
        )
    )


def outline(changes: Changes, group: str = "g") -> dict[str, int]:
    """The counts of a group that are not zero."""
    desired = changes.desired[group]
    return {name: n for name in desired.__struct_fields__ if (n := getattr(desired, name))}
