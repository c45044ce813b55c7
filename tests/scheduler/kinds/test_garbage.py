"""What nobody needs any more is collected, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_deployment, a_group, a_job, a_node, an_eval, key
from yurt.model.alloc import RescheduleEvent, RescheduleTracker
from yurt.model.evaluation import EVAL_COMPLETE
from yurt.model.job import BATCH, SERVICE, JobVersionTag
from yurt.model.plan import PlacementDetail
from yurt.model.policies import PeriodicConfig, ReschedulePolicy
from yurt.model.times import HOUR_NS, MINUTE_NS
from yurt.model.wire import AllocID, EvalID
from yurt.scheduler.kinds.core import (
    AT_ONCE,
    Thresholds,
    collect_deployments,
    collect_evals_of,
    collect_jobs,
    collect_nodes,
    deletions,
    jobs_with_old_evals,
)

DAY_NS = 24 * HOUR_NS
LONG = 30 * DAY_NS
UNLIMITED = ReschedulePolicy(unlimited=True, delay=1)
LIMITED = ReschedulePolicy(attempts=1, interval=MINUTE_NS, delay=1)


class Scene:
    """A job that was evaluated once, with one allocation."""

    def __init__(self, kind: str = SERVICE, policy: ReschedulePolicy | None = None, **changes: Any) -> None:
        self.cluster = Cluster()
        self.node = self.cluster.add_node(a_node())
        job = a_job("web", a_group(reschedule_policy=policy), type=kind)
        job = self.cluster.add_job(replace(job, submit_time=self.cluster.now, **changes))
        self.cluster.add_evals(an_eval("planner", type=kind))
        tracker = (
            RescheduleTracker(events=(RescheduleEvent(reschedule_time=1),)) if policy is LIMITED else None
        )
        details = {0: PlacementDetail(reschedule_tracker=tracker)} if tracker is not None else None
        self.cluster.place(job, "a", node=self.node, details=details)
        self.cluster.add_evals(an_eval("planner", type=kind, status=EVAL_COMPLETE))

    def jobs(self, *, later: int = LONG) -> int:
        units = collect_jobs(self.cluster.state, now=self.cluster.now + later, thresholds=Thresholds())
        return len(units)

    def evals(self, *, later: int = LONG) -> tuple[list[str], list[str]]:
        now, thresholds = self.cluster.now + later, Thresholds()
        keys = jobs_with_old_evals(self.cluster.state, now=now, thresholds=thresholds)
        found = [collect_evals_of(self.cluster.state, one, now=now, thresholds=thresholds) for one in keys]
        return [e for one in found for e in one.evals], [a for one in found for a in one.allocs]


def test_a_running_job_keeps_everything() -> None:
    scene = Scene()
    assert scene.jobs() == 0
    assert scene.evals() == ([], [])


def test_a_finished_batch_job_is_forgotten_whole() -> None:
    scene = Scene(BATCH)
    scene.cluster.report("a", "complete")
    assert scene.jobs(later=HOUR_NS) == 0, "too young"
    ((evals, purge),) = collect_jobs(
        scene.cluster.state, now=scene.cluster.now + LONG, thresholds=Thresholds()
    )
    scene.cluster.apply(evals)
    scene.cluster.apply(purge)
    state = scene.cluster.state
    assert (len(state.jobs), len(state.evals), len(state.allocs)) == (0, 0, 0)


@pytest.mark.parametrize(
    ("kind", "changes", "goes"),
    [
        pytest.param(BATCH, {}, True, id="batch"),
        pytest.param(SERVICE, {}, False, id="a service may be needed again"),
        pytest.param(SERVICE, {"stop": True}, True, id="stopped"),
        pytest.param(BATCH, {"version_tag": JobVersionTag(name="golden")}, False, id="a tagged version"),
        pytest.param(BATCH, {"periodic": PeriodicConfig(specs=("@daily",))}, False, id="periodic"),
        pytest.param(
            BATCH, {"periodic": PeriodicConfig(specs=("@daily",)), "stop": True}, True, id="periodic, stopped"
        ),
    ],
)
def test_which_jobs_go(kind: str, changes: dict[str, Any], goes: bool) -> None:
    scene = Scene(kind)
    scene.cluster.report("a", "complete")
    job = replace(scene.cluster.state.jobs[key()], **changes)
    if job.stop or job.is_periodic:
        job = replace(job, status="dead")
    scene.cluster.state.jobs.put(job.key, job, scene.cluster.state.index)
    assert (scene.jobs() == 1) is goes


@pytest.mark.parametrize(
    ("policy", "status", "goes"),
    [
        pytest.param(None, "complete", True, id="ended"),
        pytest.param(None, "failed", True, id="failed, never placed anew"),
        pytest.param(UNLIMITED, "failed", False, id="failed, may be placed anew"),
        pytest.param(LIMITED, "failed", True, id="failed, too late to be placed anew"),
    ],
)
def test_which_allocations_go(policy: ReschedulePolicy | None, status: str, goes: bool) -> None:
    scene = Scene(policy=policy)
    scene.cluster.report("a", status)
    # Another evaluation keeps the job from being dead.
    scene.cluster.add_evals(an_eval("next"))
    assert scene.evals() == ((["planner"], ["a"]) if goes else ([], []))


def test_what_used_up_its_attempts_goes_when_these_are_long_ago() -> None:
    policy = replace(LIMITED, interval=2 * HOUR_NS)
    scene = Scene(policy=policy)
    alloc = scene.cluster.state.allocs[AllocID("a")]
    tracker = RescheduleTracker(events=(RescheduleEvent(reschedule_time=scene.cluster.now),))
    scene.cluster.state.allocs.put(
        alloc.id, replace(alloc, reschedule_tracker=tracker), scene.cluster.state.index
    )
    scene.cluster.report("a", "failed")
    scene.cluster.add_evals(an_eval("next"))
    assert scene.evals(later=90 * MINUTE_NS) == ([], []), "it may still be told apart from a new failure"
    assert scene.evals(later=3 * HOUR_NS) == (["planner"], ["a"])


def test_results_of_a_batch_job_stay_while_its_version_does() -> None:
    scene = Scene(BATCH)
    scene.cluster.report("a", "complete")
    assert scene.evals() == ([], [])
    job = scene.cluster.state.jobs[key()]
    scene.cluster.add_job(replace(job, priority=70))
    assert scene.evals() == (["planner"], ["a"])


def test_evaluations_of_a_job_that_is_gone_go() -> None:
    scene = Scene()
    scene.cluster.add_evals(an_eval("orphan", "gone", status=EVAL_COMPLETE))
    evals, _ = scene.evals()
    assert evals == ["orphan"]


def test_deletions_come_in_entries_of_bounded_size() -> None:
    scene = Scene()
    scene.cluster.report("a", "complete")
    scene.cluster.add_evals(an_eval("next"))
    now = scene.cluster.now + LONG
    found = collect_evals_of(scene.cluster.state, key(), now=now, thresholds=AT_ONCE)
    for entry in deletions([found], now=now):
        scene.cluster.apply(entry)
    assert EvalID("planner") not in scene.cluster.state.evals
    assert not scene.cluster.state.allocs.rows()


def test_deployments_go_when_nothing_of_them_runs() -> None:
    scene = Scene()
    job = scene.cluster.state.jobs[key()]
    ended = replace(a_deployment("d", job), status="successful")
    scene.cluster.commit(deployment=ended)
    scene.cluster.place(job, "b", node=scene.node, deployment_id="d")
    state, now = scene.cluster.state, scene.cluster.now + LONG
    assert collect_deployments(state, now=now, thresholds=Thresholds()) == []
    scene.cluster.report("b", "complete")
    (entry,) = collect_deployments(state, now=now, thresholds=Thresholds())
    scene.cluster.apply(entry)
    assert not state.deployments.rows()


def test_nodes_go_when_they_are_long_down() -> None:
    scene = Scene()
    state = scene.cluster.state
    assert collect_nodes(state, now=scene.cluster.now + LONG, thresholds=Thresholds()) == []
    down = replace(state.nodes[scene.node.id], status="down")
    state.nodes.put(down.id, down, state.index)
    assert collect_nodes(state, now=scene.cluster.now + LONG, thresholds=Thresholds()) == [], "work is on it"
    scene.cluster.report("a", "complete")
    (entry,) = collect_nodes(state, now=scene.cluster.now + LONG, thresholds=Thresholds())
    scene.cluster.apply(entry)
    assert not state.nodes.rows()
