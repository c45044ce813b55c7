"""Time placing one-instance jobs on 10,000 nodes, as platforms that hand out sandboxes do."""

from __future__ import annotations

from statistics import median, quantiles
from time import process_time

from benchmarks.scheduler.cluster import a_cluster, a_job, place
from yurt.model.placement_rules import Constraint
from yurt.scheduler.view import View

JOBS = 500
JOBS_PER_VIEW = 64
TARGETS = {"p50_ms": "<= 1"}


def run() -> dict[str, float]:
    """Return the time to place one job; views are made anew for each batch, and their cost counts."""
    state = a_cluster()
    linux = (Constraint(ltarget="${attr.kernel.name}", operand="=", rtarget="linux"),)
    times = []
    view = View(state)
    for number in range(JOBS):
        job = a_job(f"job-{number}", constraints=linux)
        start = process_time()
        if number % JOBS_PER_VIEW == 0:
            view = View(state)
        placed = place(view, job, 1, seed=number).placed
        times.append((process_time() - start) * 1000)
        assert placed, "there is room for all"
    return {"p50_ms": median(times), "p99_ms": quantiles(times, n=100)[98]}
