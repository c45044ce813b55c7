"""Fast and plain placing agree on generated clusters."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.scheduler.placement.builders import a_state, requests
from tests.scheduler.placement.clusters import clusters, jobs
from tests.scheduler.placement.plain import PlainCluster
from yurt.model.alloc_metric import AllocMetric
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.scheduler import placer
from yurt.scheduler.place import place_group
from yurt.scheduler.rank.ranking import NEAR_TIE
from yurt.scheduler.view import View

# Rounding to near ties may prefer a node that is worse by as much.
TOLERANCE = 1.01 * NEAR_TIE

many = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def agree(data: st.DataObject, *, special: bool) -> None:
    job = data.draw(jobs(special=special))
    group = job.task_groups[0]
    made, allocs = data.draw(clusters(job))
    algorithm = data.draw(st.sampled_from(["binpack", "spread"]))
    state = a_state(made, allocs)
    plain = PlainCluster(state, job, group, algorithm=algorithm)
    wanted = requests(data.draw(st.integers(1, 14)))
    result = place_group(
        View(state),
        job,
        group,
        wanted,
        rng=Random(data.draw(st.integers(0, 99))),
        configuration=SchedulerConfiguration(
            scheduler_algorithm=algorithm, memory_oversubscription_enabled=data.draw(st.booleans())
        ),
    )
    for placed in result.placed:
        scores = plain.scores()
        assert placed.node_id in scores, "placed where a rule or the room forbids it"
        assert scores[placed.node_id] >= max(scores.values()) - TOLERANCE
        plain.place(placed.node_id, placed.resources)
    if len(result.placed) < len(wanted):
        assert plain.scores() == {}, "a node was left that could take one more"
        assert result.failure is not None
        assert result.failure.coalesced_failures == len(wanted) - len(result.placed) - 1
        counted = result.failure.nodes_filtered + result.failure.nodes_exhausted
        assert counted == result.failure.nodes_evaluated == result.failure.nodes_in_pool


@many
@given(data=st.data())
def test_one_by_one_agrees_with_plain_placing(data: st.DataObject) -> None:
    agree(data, special=True)


@many
@given(data=st.data())
def test_bulk_agrees_with_plain_placing(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placer, "OWN_METRICS_INSTANCES_MAX", 0)
        patch.setattr(placer, "OWN_METRICS_SCORES_MAX", 0)
        agree(data, special=data.draw(st.booleans()))


@many
@given(data=st.data())
def test_metrics_report_the_scores_of_the_best_nodes(data: st.DataObject) -> None:
    job = data.draw(jobs(special=False))
    group = job.task_groups[0]
    made, allocs = data.draw(clusters(job))
    state = a_state(made, allocs)
    plain = PlainCluster(state, job, group)
    result = place_group(
        View(state), job, group, requests(3), rng=Random(1), configuration=SchedulerConfiguration()
    )
    for placed in result.placed:
        metric = msgspec.msgpack.decode(placed.metrics, type=AllocMetric)
        scores = plain.scores()
        reported = {score.node_id: score.norm_score for score in metric.score_meta_data or ()}
        assert len(reported) == min(5, len(scores))
        for node_id, score in reported.items():
            assert score == pytest.approx(scores[node_id], abs=1e-9)
        best = sorted(scores.values(), reverse=True)[: len(reported)]
        assert sorted(reported.values(), reverse=True) == pytest.approx(best, abs=2e-6)
        assert metric.nodes_evaluated == metric.nodes_filtered + metric.nodes_exhausted + len(scores)
        plain.place(placed.node_id, placed.resources)
