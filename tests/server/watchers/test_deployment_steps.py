"""Deployments fail, go on, or are promoted, by the health of their allocations."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_deployment, a_group, a_job, a_node, key
from yurt.model.alloc import AllocDeploymentStatus, DesiredTransition
from yurt.model.deployment import Deployment
from yurt.model.plan import PlacementDetail
from yurt.model.policies import ReschedulePolicy, UpdateStrategy
from yurt.model.times import MINUTE_NS
from yurt.model.wire import DeploymentID
from yurt.server.watchers import deployments
from yurt.server.watchers.deployments import (
    COLLECT_NS,
    DeploymentWatch,
    next_deployment_steps,
    progress_deadline,
)
from yurt.state import entries

UNLIMITED = ReschedulePolicy(unlimited=True, delay=1)
CANARY = PlacementDetail(deployment_status=AllocDeploymentStatus(canary=True))


class Scene:
    """A job of three instances, its deployment, and some of its allocations."""

    def __init__(
        self, *alloc_ids: str, policy: ReschedulePolicy | None = UNLIMITED, canary: bool = False, **group: Any
    ) -> None:
        self.cluster = Cluster()
        node = self.cluster.add_node(a_node())
        update = UpdateStrategy(max_parallel=1)
        self.cluster.add_job(a_job("web", a_group(count=3, update=update, reschedule_policy=policy)))
        job = self.cluster.state.jobs[key()]
        deadline = group.pop("progress_deadline", 10 * MINUTE_NS)
        deployment = a_deployment("d", job, progress_deadline=deadline, **group)
        self.cluster.commit(deployment=deployment)
        details = {number: CANARY for number in range(len(alloc_ids))} if canary else None
        if alloc_ids:
            self.cluster.place(job, *alloc_ids, node=node, deployment_id="d", details=details)

    @property
    def deployment(self) -> Deployment:
        return self.cluster.state.deployments[DeploymentID("d")]

    def steps(self, *, later: int = 0) -> list[entries.Entry]:
        ids = count()
        return next_deployment_steps(
            self.cluster.state, now=self.cluster.now + later, new_id=lambda: f"new-{next(ids)}"
        )

    def do(self) -> entries.Entry:
        """Apply the only step there is."""
        (step,) = self.steps()
        self.cluster.apply(step)
        return step


def test_nothing_to_do_while_nothing_is_known() -> None:
    assert Scene("a", "b").steps() == []


def test_a_healthy_allocation_has_the_job_looked_at_once() -> None:
    scene = Scene("a")
    scene.cluster.report("a", healthy=True)
    step = scene.do()
    assert isinstance(step, entries.UpsertEvals)
    assert [(e.triggered_by, e.deployment_id) for e in step.evals] == [("deployment-watcher", "d")]
    assert scene.steps() == []


def test_an_unhealthy_allocation_may_be_replaced() -> None:
    scene = Scene("a", "b")
    scene.cluster.report("a", "failed", healthy=False)
    step = scene.do()
    assert isinstance(step, entries.SetDesiredTransitions)
    assert step.transitions == {"a": DesiredTransition(reschedule=True)}
    assert scene.steps() == []


def test_an_unhealthy_allocation_that_nothing_replaces_ends_the_deployment() -> None:
    scene = Scene("a", policy=None)
    scene.cluster.report("a", "failed", healthy=False)
    step = scene.do()
    assert isinstance(step, entries.SetDeploymentStatus)
    assert scene.deployment.status == "failed"
    assert scene.deployment.status_description == "Failed due to unhealthy allocations"
    assert scene.steps() == []


def test_without_a_progress_deadline_the_first_unhealthy_allocation_ends_the_deployment() -> None:
    scene = Scene("a", progress_deadline=0)
    scene.cluster.report("a", "failed", healthy=False)
    scene.do()
    assert scene.deployment.status == "failed"


def test_no_progress_in_time_ends_the_deployment() -> None:
    scene = Scene("a", "b", "c")
    assert progress_deadline(scene.deployment) is not None
    (step,) = scene.steps(later=11 * MINUTE_NS)
    assert isinstance(step, entries.SetDeploymentStatus)
    assert step.update.status_description == "Failed due to progress deadline"


def test_a_paused_deployment_has_all_the_time_in_the_world() -> None:
    scene = Scene("a")
    paused = replace(scene.deployment, status="paused")
    scene.cluster.state.deployments.put(paused.id, paused, scene.cluster.state.index)
    assert scene.steps(later=60 * MINUTE_NS) == []
    assert progress_deadline(scene.deployment) is None


def test_healthy_canaries_wait_for_people_without_losing_time() -> None:
    scene = Scene("a", canary=True, desired_canaries=1)
    scene.cluster.report("a", healthy=True)
    scene.do()
    assert scene.steps(later=60 * MINUTE_NS) == []


def test_healthy_canaries_promote_themselves_where_they_may() -> None:
    scene = Scene("a", canary=True, desired_canaries=1, auto_promote=True)
    assert scene.steps() == []
    scene.cluster.report("a", healthy=True)
    step = scene.do()
    assert isinstance(step, entries.PromoteDeployment)
    group = scene.deployment.task_groups["g"]
    assert group.promoted
    status = scene.cluster.state.allocs.rows()[0].deployment_status
    assert status is not None
    assert (status.canary, status.healthy) == (False, True)
    assert scene.deployment.status_description == "Deployment is running"


class TestGoingBack:
    def scene(self, *, env: str) -> Scene:
        """A second version fails after a first that was known to be good."""
        scene = Scene("a", policy=None, auto_revert=True)
        job = scene.cluster.state.jobs[key()]
        scene.cluster.apply(
            entries.SetJobStability(
                at=scene.cluster.now, namespace="default", job_id="web", version=0, stable=True
            )
        )
        (task,) = job.task_groups[0].tasks
        changed = replace(job.task_groups[0], tasks=(replace(task, env={"V": env} if env else None),))
        scene.cluster.add_job(replace(job, task_groups=(changed,), priority=60 if not env else 50))
        return scene

    def test_a_failed_deployment_goes_back_to_a_good_version(self) -> None:
        scene = self.scene(env="2")
        scene.cluster.report("a", "failed", healthy=False)
        scene.do()
        assert scene.deployment.status_description.endswith(" - rolling back to job version 0")
        job = scene.cluster.state.jobs[key()]
        assert (job.version, job.stable, job.task_groups[0].tasks[0].env) == (2, True, None)

    def test_it_does_not_go_back_to_what_it_runs(self) -> None:
        scene = Scene("a", policy=None, auto_revert=True)
        scene.cluster.apply(
            entries.SetJobStability(
                at=scene.cluster.now, namespace="default", job_id="web", version=0, stable=True
            )
        )
        scene.cluster.report("a", "failed", healthy=False)
        scene.do()
        assert "as current job has same specification" in scene.deployment.status_description
        assert scene.cluster.state.jobs[key()].version == 0

    def test_it_stays_where_there_is_no_good_version(self) -> None:
        scene = Scene("a", policy=None, auto_revert=True)
        scene.cluster.report("a", "failed", healthy=False)
        scene.do()
        assert scene.deployment.status_description.endswith(" - no stable job version to auto revert to")


class Watched(Scene):
    """A scene seen by a watch that looks only at what it must."""

    def __init__(self, *alloc_ids: str, **group: Any) -> None:
        super().__init__(*alloc_ids, **group)
        self.watch = DeploymentWatch()

    def steps(self, *, later: int = 0) -> list[entries.Entry]:
        ids = count()
        return self.watch.steps(
            self.cluster.state, now=self.cluster.now + later, new_id=lambda: f"new-{next(ids)}"
        )


@pytest.fixture
def no_rescan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployments, "RESCANNED_PER_LOOK", 0)


@pytest.mark.usefixtures("no_rescan")
def test_a_watch_looks_at_what_changed_once() -> None:
    scene = Watched("a", "b", "c")
    assert scene.steps() == []
    scene.cluster.report("a", "running", healthy=True)
    assert scene.steps() == [], "what its other allocations call for may come along"
    assert scene.watch.deadline == scene.cluster.now + COLLECT_NS
    (step,) = scene.steps(later=COLLECT_NS)
    assert isinstance(step, entries.UpsertEvals)
    assert scene.steps(later=COLLECT_NS) == []


@pytest.mark.usefixtures("no_rescan")
def test_a_failure_is_not_collected() -> None:
    scene = Watched("a", "b", policy=None)
    scene.cluster.report("a", "running", healthy=True)
    assert scene.steps() == []
    scene.cluster.report("b", "failed", healthy=False)
    (step,) = scene.steps(later=1)
    assert isinstance(step, entries.SetDeploymentStatus)


@pytest.mark.usefixtures("no_rescan")
def test_a_watch_looks_at_a_deployment_whose_time_is_up() -> None:
    scene = Watched("a", "b", "c")
    assert scene.steps() == []
    due = scene.watch.deadline
    assert due == progress_deadline(scene.deployment)
    assert due is not None
    assert scene.steps(later=due - scene.cluster.now - 1) == []
    (step,) = scene.steps(later=due - scene.cluster.now)
    assert isinstance(step, entries.SetDeploymentStatus)


def test_a_watch_finds_again_what_could_not_be_written() -> None:
    scene = Watched("a", "b", "c")
    scene.cluster.report("a", "running", healthy=True)
    assert scene.steps() == []
    assert len(scene.steps(later=COLLECT_NS)) == 1
    assert scene.steps(later=COLLECT_NS) == [], "collected anew"
    assert len(scene.steps(later=2 * COLLECT_NS)) == 1
