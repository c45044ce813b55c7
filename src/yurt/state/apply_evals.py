"""Applying changes of evaluations."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from yurt.model.evaluation import EVAL_CANCELED, EVAL_COMPLETE, Evaluation
from yurt.model.job import CORE, JobKey
from yurt.state.entries import DeleteEvals
from yurt.state.job_status import refresh_status, set_queued
from yurt.state.state import State


def upsert_evals(state: State, index: int, evals: Sequence[Evaluation]) -> None:
    """Store evaluations, and bring their jobs' statuses up to date."""
    for evaluation in evals:
        store_eval(state, index, evaluation)
    for key in {JobKey(e.namespace, e.job_id): None for e in evals if e.type != CORE}:
        refresh_status(state, key, index)


def store_eval(state: State, index: int, evaluation: Evaluation) -> None:
    """Store one evaluation; one that placed everything cancels the job's blocked ones."""
    old = state.evals.get(evaluation.id)
    stored = replace(
        evaluation, create_index=old.create_index if old is not None else index, modify_index=index
    )
    state.evals.put(stored.id, stored, index)
    state.news.evals.append(stored)
    key = JobKey(stored.namespace, stored.job_id)
    if stored.queued_allocations:
        set_queued(state, key, stored.queued_allocations, index)
    if stored.status == EVAL_COMPLETE and not stored.failed_tg_allocs:
        for blocked in state.evals.blocked_of_job(key):
            canceled = replace(
                blocked,
                status=EVAL_CANCELED,
                status_description=f'evaluation "{stored.id}" successful',
                modify_index=index,
                modify_time=stored.modify_time,
            )
            state.evals.put(canceled.id, canceled, index)
            state.news.evals.append(canceled)


def delete_evals(state: State, index: int, entry: DeleteEvals) -> None:
    """Remove evaluations and allocations that are no longer needed."""
    keys: dict[JobKey, None] = {}
    for eval_id in entry.eval_ids:
        evaluation = state.evals.delete(eval_id, index)
        if evaluation is not None:
            keys[JobKey(evaluation.namespace, evaluation.job_id)] = None
    for alloc_id in entry.alloc_ids:
        state.allocs.delete(alloc_id, index)
    for key in keys:
        refresh_status(state, key, index, evals_deleted=True)
