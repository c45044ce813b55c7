"""Evaluations, and the configuration of scheduling."""

from __future__ import annotations

import pytest

from tests.state.builders import Cluster, a_job, an_eval, key
from yurt.model.alloc_metric import AllocMetric
from yurt.model.evaluation import EVAL_BLOCKED, EVAL_CANCELED, EVAL_COMPLETE, EVAL_FAILED
from yurt.model.job import CORE
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.wire import AllocID, EvalID
from yurt.state.entries import DeleteEvals, SetSchedulerConfiguration, UpsertEvals

FAILED = {"g": AllocMetric(nodes_evaluated=1)}


def _eval_ids(cluster: Cluster) -> list[str]:
    return [one.id for one in cluster.state.evals]


def test_an_evaluation_keeps_the_index_of_its_creation() -> None:
    cluster = Cluster()
    cluster.add_evals(an_eval("e1"))
    cluster.add_evals(an_eval("e1", status=EVAL_FAILED, create_index=77))
    evaluation = cluster.state.evals[EvalID("e1")]
    assert (evaluation.create_index, evaluation.modify_index) == (1, 2)
    assert [one.id for one in cluster.state.news.evals] == ["e1", "e1"]


@pytest.mark.parametrize(
    ("status", "failed", "canceled"),
    [
        pytest.param(EVAL_COMPLETE, None, True, id="everything placed"),
        pytest.param(EVAL_COMPLETE, FAILED, False, id="something is missing"),
        pytest.param(EVAL_FAILED, None, False, id="failed"),
        pytest.param(EVAL_BLOCKED, None, False, id="blocked itself"),
    ],
)
def test_an_evaluation_that_placed_everything_cancels_the_jobs_blocked_ones(
    status: str, failed: dict[str, AllocMetric] | None, canceled: bool
) -> None:
    cluster = Cluster()
    cluster.add_job()
    cluster.add_evals(
        an_eval("waits", status=EVAL_BLOCKED),
        an_eval("pends"),
        an_eval("others", "other", status=EVAL_BLOCKED),
    )
    cluster.add_evals(an_eval("e1", status=status, failed_tg_allocs=failed, modify_time=42))
    waits = cluster.state.evals[EvalID("waits")]
    assert (waits.status == EVAL_CANCELED) is canceled
    if canceled:
        assert waits.status_description == 'evaluation "e1" successful'
        assert (waits.modify_index, waits.modify_time) == (cluster.state.index, 42)
    assert cluster.state.evals[EvalID("pends")].status == "pending"
    assert cluster.state.evals[EvalID("others")].status == EVAL_BLOCKED


def test_core_evaluations_concern_no_job() -> None:
    cluster = Cluster()
    cluster.apply(UpsertEvals(at=1, evals=(an_eval("e1", "eval-gc", type=CORE, namespace="-"),)))
    assert cluster.state.jobs.index == 0


def test_collecting_removes_evaluations_and_allocations() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job(None, an_eval("e1"))
    cluster.place(job, "a1", "a2", node=node)
    cluster.add_evals(an_eval("e1", status=EVAL_COMPLETE))
    cluster.report("a1", "complete")
    cluster.apply(
        DeleteEvals(
            at=cluster.now,
            eval_ids=(EvalID("e1"), EvalID("unknown")),
            alloc_ids=(AllocID("a1"), AllocID("unknown")),
        )
    )
    assert _eval_ids(cluster) == []
    assert [alloc.id for alloc in cluster.state.allocs.of_job(key())] == ["a2"]
    assert cluster.state.jobs[key()].status == "running"


def test_collecting_nothing_known_leaves_the_tables_alone() -> None:
    cluster = Cluster()
    cluster.add_job(a_job(), an_eval("e1"))
    cluster.apply(DeleteEvals(at=cluster.now, eval_ids=(EvalID("unknown"),), alloc_ids=(AllocID("unknown"),)))
    assert (cluster.state.evals.index, cluster.state.allocs.index) == (1, 0)


@pytest.mark.parametrize(
    ("check_index", "is_set"),
    [
        pytest.param(None, True, id="unchecked"),
        pytest.param(1, True, id="right"),
        pytest.param(9, False, id="wrong"),
    ],
)
def test_scheduling_is_configured_unless_someone_was_faster(check_index: int | None, is_set: bool) -> None:
    cluster = Cluster()
    spread = SchedulerConfiguration(scheduler_algorithm="spread")
    binpack = SchedulerConfiguration(scheduler_algorithm="binpack")
    assert cluster.apply(SetSchedulerConfiguration(at=1, configuration=spread)) is True
    entry = SetSchedulerConfiguration(at=2, configuration=binpack, check_index=check_index)
    assert cluster.apply(entry) is is_set
    stored = cluster.state.scheduler_configuration
    assert stored.scheduler_algorithm == ("binpack" if is_set else "spread")
    assert (stored.create_index, stored.modify_index) == (1, 2 if is_set else 1)
