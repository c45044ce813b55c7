"""The status of a job, told from its allocations and evaluations."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_group, a_job, an_eval
from yurt.api.simple.views import alloc_status, job_status
from yurt.model.alloc import Allocation
from yurt.model.evaluation import EVAL_BLOCKED, EVAL_COMPLETE, EVAL_PENDING
from yurt.model.wire import AllocID

RUNS = {"client_status": "running"}
PENDS = {"client_status": "pending"}
ENDED = {"client_status": "complete"}
FAILED = {"client_status": "failed"}
LOST = {"client_status": "lost", "desired_status": "stop"}
STOPPED = {"client_status": "complete", "desired_status": "stop"}
STOPPING = {"client_status": "running", "desired_status": "stop"}
REPLACED = {**FAILED, "next_allocation": "a9"}
SILENT = {"client_status": "unknown"}


@pytest.mark.parametrize(
    ("allocs", "evaluation", "status"),
    [
        ((), EVAL_PENDING, "pending"),
        ((), EVAL_BLOCKED, "blocked"),
        ((), EVAL_COMPLETE, "blocked"),
        ((PENDS,), EVAL_COMPLETE, "running"),
        ((RUNS, RUNS), EVAL_COMPLETE, "running"),
        ((RUNS, ENDED), EVAL_COMPLETE, "running"),
        ((RUNS, STOPPED), EVAL_COMPLETE, "running"),
        ((RUNS, REPLACED), EVAL_COMPLETE, "running"),
        ((RUNS, FAILED), EVAL_COMPLETE, "degraded"),
        ((RUNS, LOST), EVAL_BLOCKED, "degraded"),
        ((ENDED, ENDED), EVAL_COMPLETE, "complete"),
        ((ENDED, FAILED), EVAL_COMPLETE, "failed"),
        ((FAILED,), EVAL_COMPLETE, "failed"),
        ((LOST, LOST), EVAL_COMPLETE, "lost"),
        ((LOST,), EVAL_BLOCKED, "lost"),
        ((SILENT,), EVAL_COMPLETE, "lost"),
        ((LOST, FAILED), EVAL_COMPLETE, "failed"),
    ],
)
def test_the_status_of_a_job(allocs: tuple[dict[str, Any], ...], evaluation: str, status: str) -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    for number, changes in enumerate(allocs):
        cluster.place(job, f"a{number}", node=node)
        change(cluster, f"a{number}", **changes)
    cluster.add_evals(an_eval("e1", status=evaluation))
    found, why = job_status(cluster.state, cluster.state.jobs[job.key])
    assert found == status
    assert bool(why) == (evaluation == EVAL_BLOCKED or status == "blocked")


def change(cluster: Cluster, alloc_id: str, **changes: Any) -> None:
    state = cluster.state
    state.allocs.put(AllocID(alloc_id), replace(state.allocs[AllocID(alloc_id)], **changes), state.index)


def test_a_job_that_was_stopped_is_dead_whatever_became_of_it() -> None:
    cluster = Cluster()
    job = cluster.add_job(a_job(stop=True))
    assert job_status(cluster.state, job) == ("dead", "")


def test_a_job_that_wants_nothing_is_complete() -> None:
    cluster = Cluster()
    job = cluster.add_job(a_job("web", a_group(count=0)))
    cluster.add_evals(an_eval("e1", status=EVAL_COMPLETE))
    assert job_status(cluster.state, job) == ("complete", "")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        (PENDS, "pending"),
        (RUNS, "running"),
        (STOPPING, "running"),
        (ENDED, "complete"),
        (STOPPED, "stopped"),
        (FAILED, "failed"),
        ({**FAILED, "desired_status": "stop"}, "failed"),
        (LOST, "lost"),
        (SILENT, "lost"),
    ],
)
def test_the_status_of_an_allocation(changes: dict[str, str], status: str) -> None:
    cluster = Cluster()
    node = cluster.add_node()
    cluster.place(cluster.add_job(), "a1", node=node)
    alloc: Allocation = replace(cluster.state.allocs[AllocID("a1")], **changes)
    assert alloc_status(alloc) == status
