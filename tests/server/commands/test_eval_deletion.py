"""Which evaluations operators may delete."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_group, a_job, a_node, key
from yurt.model.alloc import RescheduleEvent, RescheduleTracker
from yurt.model.evaluation import Evaluation
from yurt.model.policies import ReschedulePolicy
from yurt.model.times import MINUTE_NS
from yurt.model.wire import AllocID, EvalID
from yurt.server.commands.evals import is_deletable

LIMITED = ReschedulePolicy(attempts=3, interval=MINUTE_NS)
UNLIMITED = ReschedulePolicy(unlimited=True)
TRIED = RescheduleTracker(events=(RescheduleEvent(reschedule_time=1),))


@pytest.mark.parametrize(
    ("status", "policy", "tracker", "following", "deletable"),
    [
        pytest.param("pending", None, None, "", True, id="not started"),
        pytest.param("running", None, None, "", False, id="running"),
        pytest.param("unknown", None, None, "", False, id="unknown"),
        pytest.param("complete", UNLIMITED, None, "", True, id="complete"),
        pytest.param("lost", UNLIMITED, None, "", True, id="lost"),
        pytest.param("failed", None, None, "", True, id="failed for good"),
        pytest.param("failed", ReschedulePolicy(), None, "", True, id="failed, policy off"),
        pytest.param("failed", LIMITED, None, "", False, id="failed, to be placed anew"),
        pytest.param("failed", LIMITED, TRIED, "", False, id="failed, tried, not replaced"),
        pytest.param("failed", LIMITED, None, "next", False, id="failed, replaced, no attempts on record"),
        pytest.param("failed", LIMITED, TRIED, "next", True, id="failed, tried, replaced"),
        pytest.param("failed", UNLIMITED, TRIED, "next", False, id="failed, replaced without limit"),
    ],
)
def test_which_evaluations_of_a_live_job_go(
    status: str,
    policy: ReschedulePolicy | None,
    tracker: RescheduleTracker | None,
    following: str,
    deletable: bool,
) -> None:
    cluster = Cluster()
    job = cluster.add_job(a_job("web", a_group(reschedule_policy=policy)))
    (alloc,) = cluster.place(job, "a", node=cluster.add_node(a_node()))
    changed = replace(
        alloc, client_status=status, reschedule_tracker=tracker, next_allocation=AllocID(following)
    )
    state = cluster.state
    state.allocs.put(alloc.id, changed, state.index)
    state.jobs.put(key(), replace(state.jobs[key()], status="running"), state.index)
    evaluation = Evaluation(id=EvalID(alloc.eval_id), job_id=job.id, namespace=job.namespace)
    assert is_deletable(state, evaluation) is deletable
    state.jobs.put(key(), replace(state.jobs[key()], stop=True), state.index)
    assert is_deletable(state, evaluation), "its job is stopped"
