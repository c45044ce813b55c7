"""A job's status and its summary, as they follow from what belongs to it."""

from __future__ import annotations

import pytest

from tests.state.builders import (
    DEFAULT,
    Cluster,
    a_deployment,
    a_group,
    a_job,
    an_eval,
    key,
)
from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_RUNNING,
    CLIENT_UNKNOWN,
)
from yurt.model.deployment import DeploymentStatusUpdate
from yurt.model.evaluation import EVAL_BLOCKED, EVAL_CANCELED, EVAL_COMPLETE, EVAL_FAILED, EVAL_PENDING
from yurt.model.job import BATCH, SYSBATCH, SYSTEM, Job
from yurt.model.job_summary import JobChildrenSummary, TaskGroupSummary
from yurt.model.plan import UpdateAlloc
from yurt.model.policies import ParameterizedJobConfig, PeriodicConfig
from yurt.model.wire import AllocID, DeploymentID, EvalID
from yurt.state.entries import DeleteEvals, DeregisterJob


@pytest.mark.parametrize(
    ("job", "running", "stopped"),
    [
        pytest.param(a_job(type=SYSTEM), "running", "dead", id="system"),
        pytest.param(a_job(periodic=PeriodicConfig(spec="@daily")), "running", "dead", id="periodic"),
        pytest.param(
            a_job(parameterized_job=ParameterizedJobConfig()), "running", "dead", id="parameterized"
        ),
        pytest.param(
            a_job(parameterized_job=ParameterizedJobConfig(), dispatched=True),
            "pending",
            "dead",
            id="dispatched",
        ),
        pytest.param(a_job(type=SYSBATCH), "pending", "dead", id="sysbatch"),
        pytest.param(a_job(), "pending", "dead", id="service"),
    ],
)
def test_status_of_a_job_with_nothing_but_itself(job: Job, running: str, stopped: str) -> None:
    cluster = Cluster()
    assert cluster.add_job(job).status == running
    cluster.apply(DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id="web"))
    assert cluster.state.jobs[key()].status == stopped


@pytest.mark.parametrize(
    ("eval_status", "status"),
    [
        (EVAL_PENDING, "pending"),
        (EVAL_BLOCKED, "pending"),
        (EVAL_COMPLETE, "dead"),
        (EVAL_FAILED, "dead"),
        (EVAL_CANCELED, "dead"),
    ],
)
def test_status_follows_evaluations_when_nothing_runs(eval_status: str, status: str) -> None:
    cluster = Cluster()
    cluster.add_job(None, an_eval("e1"))
    cluster.add_evals(an_eval("e1", status=eval_status))
    assert cluster.state.jobs[key()].status == status


@pytest.mark.parametrize(
    ("client_status", "status"),
    [
        (CLIENT_RUNNING, "running"),
        (CLIENT_UNKNOWN, "running"),
        (CLIENT_COMPLETE, "dead"),
        (CLIENT_FAILED, "dead"),
    ],
)
def test_status_follows_allocations(client_status: str, status: str) -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job(a_job(type=BATCH), an_eval("e1"))
    cluster.place(job, "a1", node=node)
    assert cluster.state.jobs[key()].status == "running"
    cluster.add_evals(an_eval("e1", status=EVAL_COMPLETE))
    assert cluster.state.jobs[key()].status == "running"
    cluster.report("a1", client_status)
    job = cluster.state.jobs[key()]
    assert job.status == status
    assert job.job_modify_index == 2, "a status is no change of the specification"


def test_an_active_deployment_keeps_a_job_running() -> None:
    cluster = Cluster()
    job = cluster.add_job(None, an_eval("e1"))
    cluster.commit(deployment=a_deployment("d1", job))
    cluster.add_evals(an_eval("e1", status=EVAL_COMPLETE))
    assert cluster.state.jobs[key()].status == "running"
    update = DeploymentStatusUpdate(deployment_id=DeploymentID("d1"), status="failed", status_description="")
    cluster.commit(deployment_updates=(update,))
    cluster.add_evals(an_eval("e2", status=EVAL_COMPLETE))
    assert cluster.state.jobs[key()].status == "dead"


def test_a_job_is_dead_once_its_evaluations_were_collected() -> None:
    cluster = Cluster()
    cluster.add_job(a_job(type=BATCH), an_eval("e1"))
    cluster.add_evals(an_eval("e1", status=EVAL_COMPLETE))
    cluster.apply(DeleteEvals(at=cluster.now, eval_ids=(EvalID("e1"),)))
    assert cluster.state.jobs[key()].status == "dead"
    assert len(cluster.state.evals) == 0


def test_a_stopped_job_runs_until_its_allocations_are_stopped() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.place(job, "a1", node=node)
    cluster.apply(DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id="web"))
    assert cluster.state.jobs[key()].status == "running"
    cluster.stop("a1")
    assert cluster.state.jobs[key()].status == "dead"


def _summary(cluster: Cluster, group: str = "g") -> TaskGroupSummary:
    return cluster.state.job_summaries[key()].summary[group]


def test_summary_counts_allocations_by_client_status() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job(None, an_eval("e1"))
    cluster.add_evals(an_eval("e1", status=EVAL_BLOCKED, queued_allocations={"g": 5, "unknown": 9}))
    assert _summary(cluster) == TaskGroupSummary(queued=5)
    cluster.place(job, "a1", "a2", "a3", node=node)
    assert _summary(cluster) == TaskGroupSummary(queued=2, starting=3)
    cluster.report("a1", CLIENT_RUNNING)
    cluster.report("a2", CLIENT_FAILED)
    cluster.report("a3", CLIENT_COMPLETE)
    assert _summary(cluster) == TaskGroupSummary(queued=2, running=1, failed=1, complete=1)
    assert set(cluster.state.job_summaries[key()].summary) == {"g"}


def test_failed_and_complete_are_totals() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.place(job, "a1", node=node)
    cluster.report("a1", CLIENT_FAILED)
    cluster.report("a1", CLIENT_RUNNING)
    assert _summary(cluster) == TaskGroupSummary(failed=1, running=1)


def test_lost_and_unknown_are_counted_while_they_last() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.place(job, "a1", "a2", node=node)
    cluster.commit(updates=(UpdateAlloc(id=AllocID("a1"), client_status=CLIENT_UNKNOWN),))
    cluster.stop("a2", client_status=CLIENT_LOST)
    assert _summary(cluster) == TaskGroupSummary(unknown=1, lost=1)
    cluster.report("a1", CLIENT_RUNNING)
    assert _summary(cluster) == TaskGroupSummary(running=1, lost=1)


def test_queued_never_runs_below_zero() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.place(job, "a1", "a2", node=node)
    assert _summary(cluster) == TaskGroupSummary(starting=2)


def test_rows_of_removed_groups_stay() -> None:
    cluster = Cluster()
    cluster.add_job(a_job("web", a_group("a"), a_group("b")))
    cluster.add_job(a_job("web", a_group("b"), a_group("c")))
    assert list(cluster.state.job_summaries[key()].summary) == ["a", "b", "c"]


def test_allocations_of_an_earlier_namesake_are_not_counted() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    first = cluster.add_job()
    (alloc,) = cluster.place(first, "a1", node=node)
    cluster.apply(DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id="web", purge=True))
    cluster.add_job()
    cluster.state.allocs.put(alloc.id, alloc, cluster.state.index)
    cluster.report("a1", CLIENT_RUNNING)
    assert _summary(cluster) == TaskGroupSummary()


def _children(cluster: Cluster) -> JobChildrenSummary | None:
    return cluster.state.job_summaries[key("nightly")].children


def _launch(cluster: Cluster, number: int) -> Job:
    child = a_job(f"nightly/periodic-{number}", type=BATCH, parent_id="nightly")
    return cluster.add_job(child, an_eval(f"e{number}", child.id))


def test_a_parent_counts_its_children_by_status() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    cluster.add_job(a_job("nightly", periodic=PeriodicConfig(spec="@daily")))
    first, second = _launch(cluster, 1), _launch(cluster, 2)
    assert _children(cluster) == JobChildrenSummary(pending=2)
    cluster.place(first, "a1", node=node)
    assert _children(cluster) == JobChildrenSummary(pending=1, running=1)
    cluster.add_evals(an_eval("e1", first.id, status=EVAL_COMPLETE))
    cluster.report("a1", CLIENT_COMPLETE)
    assert _children(cluster) == JobChildrenSummary(pending=1, dead=1)
    assert cluster.state.jobs.children_of(key("nightly")) == [
        cluster.state.jobs[first.key],
        cluster.state.jobs[second.key],
    ]


@pytest.mark.parametrize("ended", [False, True])
def test_purging_a_child_leaves_it_among_the_dead(ended: bool) -> None:
    cluster = Cluster()
    cluster.add_job(a_job("nightly", periodic=PeriodicConfig(spec="@daily")))
    child = _launch(cluster, 1)
    if ended:
        cluster.add_evals(an_eval("e1", child.id, status=EVAL_COMPLETE))
    cluster.apply(DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id=child.id, purge=True))
    assert _children(cluster) == JobChildrenSummary(dead=1)
    assert cluster.state.jobs.children_of(key("nightly")) == []
