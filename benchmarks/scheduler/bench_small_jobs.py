"""Time whole passes over evaluations of small new jobs, alone and in batches, as workers make them."""

from __future__ import annotations

from random import Random
from statistics import median, quantiles
from time import process_time

from msgspec.structs import replace

from benchmarks.scheduler.cluster import a_cluster, a_job
from yurt.main_agent import calm_collector
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_JOB_REGISTER, Evaluation
from yurt.model.job import BATCH, SERVICE
from yurt.model.resources import Resources
from yurt.model.wire import EvalID, JobID
from yurt.scheduler.check_plan import check_plan
from yurt.scheduler.schedule import schedule
from yurt.scheduler.view import View
from yurt.state.apply import apply
from yurt.state.entries import CommitPlan, RegisterJob, UpsertEvals
from yurt.state.state import State

TINY = Resources(cpu=10, memory_mb=10)
JOBS = 640
JOBS_ALONE = 200
JOBS_PER_VIEW = 64
TARGETS = {
    "one_instance_alone_p50_ms": "<= 1",
    "one_instance_in_batches_jobs_per_s": ">= 5000",
    "ten_instances_ms_a_job": "<= 1",
}


def run() -> dict[str, float]:
    """Return times of the scheduler, and beside them those of checking and applying what it planned.

    Each batch of jobs has a view of its own, which counts; it is committed before the next.
    """
    large, small = a_cluster(10_000), a_cluster(1_000)
    # As in an agent, which starts with it.
    calm_collector()
    # The first batch works out what is kept until nodes change.
    _times(large, "warm", JOBS_PER_VIEW, 1, SERVICE, JOBS_PER_VIEW)
    _times(small, "warm", JOBS_PER_VIEW, 10, BATCH, JOBS_PER_VIEW)
    alone, _ = _times(large, "alone", JOBS_ALONE, 1, SERVICE, 1)
    batches, committing = _times(large, "batch", JOBS, 1, SERVICE, JOBS_PER_VIEW)
    tens, committing_tens = _times(small, "ten", JOBS, 10, BATCH, JOBS_PER_VIEW)
    return {
        "one_instance_alone_p50_ms": median(alone) * 1e3,
        "one_instance_alone_p99_ms": quantiles(alone, n=100)[98] * 1e3,
        "one_instance_in_batches_jobs_per_s": JOBS_PER_VIEW / median(batches),
        "one_instance_check_and_apply_ms_a_job": committing / JOBS * 1e3,
        "ten_instances_ms_a_job": sum(tens) / JOBS * 1e3,
        "ten_instances_check_and_apply_ms_a_job": committing_tens / JOBS * 1e3,
    }


def _times(
    state: State, name: str, jobs: int, count: int, kind: str, per_view: int
) -> tuple[list[float], float]:
    """CPU seconds of the scheduler for each batch, and of checking and applying all plans."""
    index = state.index
    evaluations = []
    for number in range(jobs):
        evaluation = Evaluation(
            id=EvalID(f"{name}-{number}"),
            namespace="default",
            priority=50,
            type=kind,
            triggered_by=TRIGGER_JOB_REGISTER,
            job_id=JobID(f"{name}-{number}"),
            status=EVAL_PENDING,
        )
        job = replace(a_job(f"{name}-{number}", count=count, resources=TINY), type=kind)
        index += 1
        apply(state, index, RegisterJob(at=1, job=job, evals=(evaluation,)))
        evaluations.append(state.evals[evaluation.id])
    scheduling: list[float] = []
    committing = 0.0
    for first in range(0, jobs, per_view):
        batch = evaluations[first : first + per_view]
        began = process_time()
        view = View(state)
        attempts = [schedule(view, one, now=1, rng=Random(one.id)) for one in batch]
        view.release()
        planned = process_time()
        view = View(state)
        for one, attempt in zip(batch, attempts, strict=True):
            assert attempt.plan is not None, f"{one.job_id}: there is room for all"
            checked = check_plan(view, attempt.plan)
            assert not checked.rejected, f"{one.job_id}: rejected by {checked.rejected}"
            view.add(checked.changes)
            index += 2
            apply(state, index - 1, CommitPlan(at=2, eval_id=one.id, changes=checked.changes))
            apply(state, index, UpsertEvals(at=2, evals=(attempt.evaluation,)))
        state.take_news()
        scheduling.append(planned - began)
        committing += process_time() - planned
    return scheduling, committing
