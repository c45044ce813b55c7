"""Jobs, allocations and nodes as the simple dialect shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from yurt.model.acl.permissions import Permissions
from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_LOST,
    CLIENT_UNKNOWN,
    Allocation,
    decode_task_states,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.evaluation import EVAL_COMPLETE
from yurt.model.group import TaskGroup
from yurt.model.job import JOB_DEAD, Job
from yurt.model.push_nodes import public_node_id
from yurt.model.simple.job_view import constraints_view, groups_view
from yurt.model.simple.task_facts import (
    COMPLETE,
    FAILED,
    LOST,
    PENDING,
    RUNNING,
    STOPPED,
    life_times,
    task_facts,
)
from yurt.model.simple.tasks import written
from yurt.model.task import Task
from yurt.model.task_state import TaskState
from yurt.model.wire import NodeID
from yurt.state.state import State

DEGRADED, BLOCKED, DEAD = "degraded", "blocked", "dead"


def job_view(state: State, job: Job) -> dict[str, Any]:
    """A job with its allocations; those that an update or a restart replaced are left out."""
    status, why = job_status(state, job)
    return {
        "job_id": job.id,
        "type": job.type,
        "priority": job.priority,
        "task_groups": groups_view(job),
        "constraints": constraints_view(job),
        "status": status,
        "status_description": why,
        "allocations": [_alloc_view(state, alloc) for alloc in _shown(state.allocs.of_job(job.key), job)],
    }


def job_status(state: State, job: Job) -> tuple[str, str]:
    """The status of a job, and why it is blocked if it is."""
    if job.stop:
        return DEAD, ""
    if job.is_periodic or job.is_parameterized:
        return (DEAD if job.status == JOB_DEAD else RUNNING), ""
    current = [
        alloc_status(alloc)
        for alloc in state.allocs.of_job(job.key)
        if not alloc.next_allocation and alloc_status(alloc) != STOPPED
    ]
    live = sum(status in (PENDING, RUNNING) for status in current)
    bad = [status for status in current if status in (FAILED, LOST)]
    blocked = blocked_reason(state, job)
    if live:
        return (DEGRADED if bad else RUNNING), blocked
    if bad:
        return (FAILED if FAILED in bad else LOST), blocked
    if current:
        return COMPLETE, ""
    if blocked:
        return BLOCKED, blocked
    evals = state.evals.of_job(job.key)
    if not evals or state.evals.has_open(job.key):
        return PENDING, ""
    is_empty = not any(group.count for group in job.task_groups)
    return (COMPLETE, "") if is_empty else (BLOCKED, "no node fits")


def blocked_reason(state: State, job: Job) -> str:
    """Why instances of a job cannot be placed now; empty if all could."""
    waiting = {evaluation.id for evaluation in state.evals.blocked_of_job(job.key)}
    if not waiting:
        return ""
    for evaluation in reversed(state.evals.of_job(job.key)):
        if evaluation.status == EVAL_COMPLETE and evaluation.failed_tg_allocs:
            groups = evaluation.failed_tg_allocs.items()
            return "; ".join(f'group "{name}": {_why_not(metric)}' for name, metric in groups)
    return "no node fits"


def _why_not(metric: AllocMetric) -> str:
    if metric.quota_exhausted:
        return f"the quota of its namespace is used up: {', '.join(metric.quota_exhausted)}"
    if not metric.nodes_evaluated:
        return "there is no node to look at"
    parts = [f"{rule} ({count})" for rule, count in (metric.constraint_filtered or {}).items()]
    parts += [f"no room: {what} ({count})" for what, count in (metric.dimension_exhausted or {}).items()]
    return f"none of {metric.nodes_evaluated} nodes fits: {', '.join(parts)}" if parts else "no node fits"


def alloc_status(alloc: Allocation) -> str:
    """The status of an allocation in this dialect's words."""
    if alloc.client_status in (CLIENT_LOST, CLIENT_UNKNOWN):
        return LOST
    if alloc.client_status == CLIENT_COMPLETE and alloc.is_server_terminal:
        return STOPPED
    return alloc.client_status


def _shown(allocs: Iterable[Allocation], job: Job | None) -> list[Allocation]:
    is_over = job is not None and job.stop
    return [alloc for alloc in allocs if is_over or alloc_status(alloc) != STOPPED]


def _alloc_view(state: State, alloc: Allocation) -> dict[str, Any]:
    node = state.nodes.get(alloc.node_id)
    states = decode_task_states(alloc.task_states)
    group = alloc.job.group(alloc.task_group)
    tasks = group.tasks if group is not None else ()
    return {
        "allocation_id": alloc.id,
        "node_id": public_node_id(node) if node is not None else alloc.node_id,
        "task_group": alloc.task_group,
        "status": alloc_status(alloc),
        "status_description": alloc.client_description,
        **_times(alloc, states),
        "tasks": {
            task.name: _task_view(alloc, task, group, states.get(task.name) or TaskState())
            for task in tasks
            if group is not None
        },
    }


def _times(alloc: Allocation, states: dict[str, TaskState]) -> dict[str, float | None]:
    return life_times(states, over_at=alloc.modify_time if alloc.is_client_terminal else None)


def _task_view(alloc: Allocation, task: Task, group: TaskGroup, state: TaskState) -> dict[str, Any]:
    said = written(task, group)
    return {
        "resources": said.resources,
        "config": said.config,
        **task_facts(state, is_lost=alloc_status(alloc) == LOST),
    }


def node_allocs_view(state: State, node_id: NodeID, permissions: Permissions) -> list[dict[str, Any]]:
    """What is on a node, as far as a caller may see it; what was stopped is left out."""
    views = []
    for alloc in state.allocs.of_node(node_id):
        if alloc_status(alloc) != STOPPED and permissions.allows(alloc.namespace, "read-job"):
            views.append(
                {
                    "allocation_id": alloc.id,
                    "job_id": alloc.job_id,
                    "task_group": alloc.task_group,
                    "status": alloc_status(alloc),
                    **_times(alloc, decode_task_states(alloc.task_states)),
                }
            )
    return views
