"""Apply: the one function that changes State."""

from __future__ import annotations

from typing import TypeAlias

from yurt.state import entries
from yurt.state.apply_deployments import apply_deployment_entry
from yurt.state.apply_evals import delete_evals, upsert_evals
from yurt.state.apply_jobs import JobOutcome, deregister_job, record_periodic_launch, register_job
from yurt.state.apply_nodes import (
    NodeOutcome,
    deregister_nodes,
    register_node,
    set_node_drain,
    set_node_eligibility,
    set_node_status,
)
from yurt.state.apply_operator import apply_operator_entry
from yurt.state.apply_plans import PlanOutcome, commit_plan
from yurt.state.apply_reports import report_allocs, set_desired_transitions
from yurt.state.apply_secrets import apply_secret_entry
from yurt.state.apply_simple import apply_simple_entry
from yurt.state.apply_variables import VariableOutcome
from yurt.state.apply_volumes import apply_volume_entry
from yurt.state.entries import OperatorEntry
from yurt.state.secret_entries import SecretEntry
from yurt.state.simple_entries import SimpleEntry
from yurt.state.state import State
from yurt.state.volume_entries import VolumeEntry

Outcome: TypeAlias = JobOutcome | NodeOutcome | PlanOutcome | VariableOutcome | bool | None


def apply(state: State, index: int, entry: entries.Entry) -> Outcome:
    """Apply one entry of the log, deterministically: no clock, no randomness, no I/O.

    `index` must follow `state.index`. The outcome tells the proposer what came of the entry; an
    entry whose condition no longer holds changes nothing, and its outcome says so.
    """
    assert index > state.index, f"entry {index} applied after {state.index}"
    state.index = index
    outcome = _apply(state, index, entry)
    if state.watches.journal is not None:
        state.watches.journal.close(index, type(entry).__name__)
    return outcome


def _apply(state: State, index: int, entry: entries.Entry) -> Outcome:
    outcome: Outcome = None
    match entry:
        case entries.CommitPlan():
            outcome = commit_plan(state, index, entry)
        case entries.ReportAllocs():
            report_allocs(state, index, entry)
        case entries.UpsertEvals(evals=evals):
            upsert_evals(state, index, evals)
        case entries.RegisterJob():
            outcome = register_job(state, index, entry)
        case entries.DeregisterJob():
            outcome = deregister_job(state, index, entry)
        case entries.DeleteEvals():
            delete_evals(state, index, entry)
        case entries.RegisterNode():
            outcome = register_node(state, index, entry)
        case entries.SetNodeStatus():
            outcome = set_node_status(state, index, entry)
        case entries.SetNodeEligibility():
            outcome = set_node_eligibility(state, index, entry)
        case entries.SetNodeDrain():
            outcome = set_node_drain(state, index, entry)
        case entries.DeregisterNodes():
            deregister_nodes(state, index, entry)
        case entries.SetDesiredTransitions():
            set_desired_transitions(state, index, entry)
        case entries.RecordPeriodicLaunch():
            record_periodic_launch(state, index, entry)
        case (
            entries.SetDeploymentStatus()
            | entries.PromoteDeployment()
            | entries.SetAllocHealth()
            | entries.DeleteDeployments()
        ):
            outcome = apply_deployment_entry(state, index, entry)
        case _:
            outcome = _apply_rest(state, index, entry)
    return outcome


def _apply_rest(
    state: State, index: int, entry: OperatorEntry | SecretEntry | SimpleEntry | VolumeEntry
) -> Outcome:
    if isinstance(entry, SecretEntry):
        return apply_secret_entry(state, index, entry)
    if isinstance(entry, SimpleEntry):
        return apply_simple_entry(state, index, entry)
    if isinstance(entry, VolumeEntry):
        return apply_volume_entry(state, index, entry)
    return apply_operator_entry(state, index, entry)
