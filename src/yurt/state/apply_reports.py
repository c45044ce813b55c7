"""Applying what nodes report about their allocations, and what servers want of them."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_PENDING,
    CLIENT_RUNNING,
    CLIENT_UNKNOWN,
    Allocation,
    DesiredTransition,
)
from yurt.model.evaluation import EVAL_CANCELED
from yurt.model.job import JobKey
from yurt.model.wire import EvalID, Nanoseconds
from yurt.state.apply_evals import store_eval, upsert_evals
from yurt.state.deployment_counts import count_change
from yurt.state.entries import AllocReport, ReportAllocs, SetDesiredTransitions
from yurt.state.job_status import count_move, refresh_status
from yurt.state.state import State

# Equal texts share one object: there are millions of allocations, and few statuses.
_SHARED = {
    text: text
    for text in (
        CLIENT_COMPLETE,
        CLIENT_FAILED,
        CLIENT_LOST,
        CLIENT_PENDING,
        CLIENT_RUNNING,
        CLIENT_UNKNOWN,
        "No tasks have started",
        "Tasks are running",
        "All tasks have completed",
        "Failed tasks",
    )
}


def report_allocs(state: State, index: int, entry: ReportAllocs) -> None:
    """Store what nodes reported; reports on unknown allocations are dropped."""
    jobs: dict[JobKey, None] = {}
    for report in entry.reports:
        old = state.allocs.get(report.id)
        if old is None:
            continue
        new = _reported(old, report, index, entry.at)
        if old.client_status == CLIENT_UNKNOWN and new.client_status == CLIENT_RUNNING:
            new = _reconnected(state, index, new, entry.at)
        state.allocs.put(new.id, new, index)
        state.nodes.alloc_reports[new.node_id] = index
        count_move(state, old, new, index)
        count_change(state, old, new, index=index, at=entry.at)
        jobs[new.job_key] = None
        if new.is_client_terminal and not old.is_client_terminal:
            state.news.freed_nodes[new.node_id] = None
    for evaluation in entry.evals:
        store_eval(state, index, evaluation)
        jobs[JobKey(evaluation.namespace, evaluation.job_id)] = None
    for key in jobs:
        refresh_status(state, key, index)


def set_desired_transitions(state: State, index: int, entry: SetDesiredTransitions) -> None:
    """Store what the servers want of allocations; only flags that are set overwrite."""
    for alloc_id, transition in entry.transitions.items():
        old = state.allocs.get(alloc_id)
        if old is None:
            continue
        merged = old.desired_transition or DesiredTransition()
        changes = {
            name: value
            for name in DesiredTransition.__struct_fields__
            if (value := getattr(transition, name)) is not None
        }
        new = replace(
            old,
            desired_transition=replace(merged, **changes),
            modify_index=index,
            alloc_modify_index=index,
        )
        state.allocs.put(alloc_id, new, index)
    upsert_evals(state, index, entry.evals)


def _reported(old: Allocation, report: AllocReport, index: int, at: int) -> Allocation:
    status = report.deployment_status
    if status is not None:
        # Whether it is a canary is the scheduler's word, not the node's.
        canary = old.deployment_status.canary if old.deployment_status is not None else False
        status = replace(status, canary=canary, modify_index=index)
    return replace(
        old,
        client_status=_SHARED.get(report.client_status, report.client_status),
        client_description=_SHARED.get(report.client_description, report.client_description),
        task_states=report.task_states or old.task_states,
        deployment_status=status or old.deployment_status,
        network_status=report.network_status or old.network_status,
        modify_index=index,
        modify_time=at,
    )


def _reconnected(state: State, index: int, alloc: Allocation, at: Nanoseconds) -> Allocation:
    """What was to be done about an allocation's silence is no longer needed, unless it is to stop."""
    if not alloc.followup_eval_id or alloc.is_server_terminal:
        return alloc
    follow_up = state.evals.get(EvalID(alloc.followup_eval_id))
    if follow_up is not None and follow_up.status != EVAL_CANCELED:
        canceled = replace(
            follow_up, status=EVAL_CANCELED, status_description="allocs reconnected", modify_time=at
        )
        store_eval(state, index, canceled)
    return replace(alloc, followup_eval_id="")
