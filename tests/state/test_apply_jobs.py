"""Registering, stopping and forgetting jobs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.state.builders import DEFAULT, Cluster, a_deployment, a_group, a_job, an_eval, key
from yurt.model.evaluation import EVAL_BLOCKED, EVAL_COMPLETE, EVAL_PENDING
from yurt.model.job import JobVersionTag
from yurt.model.policies import ScalingPolicy
from yurt.model.wire import EvalID
from yurt.state.apply_jobs import JobOutcome
from yurt.state.entries import DeregisterJob, RegisterJob


def test_a_new_job_starts_with_the_version_it_was_sent_with() -> None:
    cluster = Cluster()
    job = cluster.add_job(a_job(version=7, stable=True, create_index=9, status="dead"), an_eval("e1"))
    assert (job.version, job.stable) == (7, False)
    assert (job.create_index, job.modify_index, job.job_modify_index) == (1, 1, 1)
    assert job.status == "pending"
    assert cluster.state.evals[EvalID("e1")].job_modify_index == 1


def test_a_changed_job_is_the_next_version() -> None:
    cluster = Cluster()
    cluster.add_job()
    job = cluster.add_job(a_job(priority=70), an_eval("e1"))
    assert (job.version, job.create_index, job.modify_index, job.job_modify_index) == (1, 1, 2, 2)
    assert [old.version for old in cluster.state.jobs.versions[key()]] == [1, 0]


def test_the_same_job_again_makes_no_version_but_an_evaluation() -> None:
    cluster = Cluster()
    first = cluster.add_job()
    again = replace(a_job(), submit_time=5, status="running", version=3)
    outcome = cluster.apply(RegisterJob(at=cluster.now, job=again, evals=(an_eval("e1"),)))
    assert outcome == JobOutcome(job=first, is_changed=False)
    assert cluster.state.jobs[key()].version == 0
    evaluation = cluster.state.evals[EvalID("e1")]
    assert (evaluation.create_index, evaluation.job_modify_index) == (2, 0)


def test_a_job_with_a_scaling_block_is_never_the_same() -> None:
    cluster = Cluster()
    job = a_job("web", a_group(scaling=ScalingPolicy(id="p", min=1, max=3)))
    cluster.add_job(job)
    assert cluster.add_job(job).version == 1


@pytest.mark.parametrize(
    ("is_stored", "enforced", "conflict"),
    [
        pytest.param(False, 0, False, id="0 demands a new job"),
        pytest.param(True, 0, True, id="0 refuses a known one"),
        pytest.param(True, 1, False, id="the stored index"),
        pytest.param(True, 2, True, id="another index"),
        pytest.param(False, 5, True, id="an index, and no such job"),
    ],
)
def test_an_enforced_index_must_match(is_stored: bool, enforced: int, conflict: bool) -> None:
    cluster = Cluster()
    if is_stored:
        cluster.add_job()
    before = cluster.state.jobs.get(key())
    entry = RegisterJob(
        at=cluster.now, job=a_job(priority=80), evals=(an_eval("e1"),), enforce_index=enforced
    )
    outcome = cluster.apply(entry)
    assert isinstance(outcome, JobOutcome)
    assert outcome.conflict is conflict
    if conflict:
        assert cluster.state.jobs.get(key()) is before
        assert len(cluster.state.evals) == 0
    else:
        assert cluster.state.jobs[key()].priority == 80


def test_stopping_makes_a_version_without_tag_and_disables_scaling() -> None:
    cluster = Cluster()
    cluster.add_job(
        a_job(
            "web",
            a_group(scaling=ScalingPolicy(id="p", min=1, max=3)),
            version_tag=JobVersionTag(name="golden"),
        )
    )
    entry = DeregisterJob(at=99, namespace=DEFAULT, job_id="web", evals=(an_eval("e1"),))
    outcome = cluster.apply(entry)
    job = cluster.state.jobs[key()]
    assert outcome == JobOutcome(job=job)
    assert (job.stop, job.version, job.version_tag, job.submit_time) == (True, 1, None, 99)
    assert job.task_groups[0].scaling is not None
    assert not job.task_groups[0].scaling.enabled
    assert cluster.state.evals[EvalID("e1")].job_modify_index == 2
    assert [old.version for old in cluster.state.jobs.versions[key()]] == [1, 0]


def test_stopping_a_stopped_job_makes_another_version() -> None:
    cluster = Cluster()
    cluster.add_job()
    for _ in range(2):
        cluster.apply(DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id="web"))
    assert cluster.state.jobs[key()].version == 2


@pytest.mark.parametrize("purge", [False, True])
def test_deregistering_an_unknown_job_changes_nothing(purge: bool) -> None:
    cluster = Cluster()
    entry = DeregisterJob(at=1, namespace=DEFAULT, job_id="web", purge=purge, evals=(an_eval("e1"),))
    assert cluster.apply(entry) == JobOutcome(job=None)
    assert len(cluster.state.evals) == 0


def test_purging_forgets_all_but_evaluations() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job(None, an_eval("open"))
    cluster.commit(deployment=a_deployment("d1", job))
    cluster.place(job, "a1", "a2", node=node, deployment_id="d1")
    cluster.add_evals(an_eval("done", status=EVAL_COMPLETE), an_eval("waiting", status=EVAL_BLOCKED))
    cluster.add_job(a_job("other"))
    cluster.state.take_news()
    cluster.apply(
        DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id="web", purge=True, evals=(an_eval("last"),))
    )
    state = cluster.state
    assert [one.id for one in state.jobs] == ["other"]
    assert key() not in state.jobs.versions
    assert key() not in state.job_summaries
    assert (len(state.allocs), len(state.deployments)) == (0, 0)
    assert {one.id: one.status for one in state.evals} == {
        "open": EVAL_COMPLETE,
        "waiting": EVAL_COMPLETE,
        "done": EVAL_COMPLETE,
        "last": EVAL_PENDING,
    }
    assert list(state.news.freed_nodes) == [node.id]
    assert state.columns.used[:, state.columns.slots[node.id]].sum() == 0


def test_a_purged_jobs_namesake_begins_anew() -> None:
    cluster = Cluster()
    cluster.add_job()
    cluster.add_job(a_job(priority=60), an_eval("e1", status=EVAL_COMPLETE))
    cluster.apply(DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id="web", purge=True))
    job = cluster.add_job()
    assert (job.version, job.create_index, job.status) == (0, 4, "pending")
    assert cluster.state.job_summaries[key()].create_index == 4
