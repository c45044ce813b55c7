"""What deployments count, and when they must have made progress."""

from __future__ import annotations

import pytest

from tests.state.builders import START_NS, Cluster, a_deployment, a_job, key, ref
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.deployment import Deployment, DeploymentState, DeploymentStatusUpdate
from yurt.model.node import Node
from yurt.model.plan import PlacementDetail, UpdateAlloc
from yurt.model.times import MINUTE_NS, SECOND_NS, time_text
from yurt.model.wire import AllocID, DeploymentID
from yurt.state import entries

CANARY = PlacementDetail(deployment_status=AllocDeploymentStatus(canary=True))


def _deploying(cluster: Cluster, **group: object) -> Node:
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.commit(deployment=a_deployment("d1", job, **group))
    return node


def _group(cluster: Cluster, deployment_id: str = "d1") -> DeploymentState:
    return _deployment(cluster, deployment_id).task_groups["g"]


def _deployment(cluster: Cluster, deployment_id: str = "d1") -> Deployment:
    return cluster.state.deployments[DeploymentID(deployment_id)]


def _counts(cluster: Cluster) -> tuple[int, int, int]:
    group = _group(cluster)
    return group.placed_allocs, group.healthy_allocs, group.unhealthy_allocs


def test_placements_are_counted_and_canaries_named() -> None:
    cluster = Cluster()
    node = _deploying(cluster)
    job = cluster.state.jobs[key()]
    cluster.place(job, "a1", "a2", node=node, deployment_id="d1")
    cluster.place(job, "c1", "c2", node=node, deployment_id="d1", details={0: CANARY})
    assert _counts(cluster) == (4, 0, 0)
    assert _group(cluster).placed_canaries == ("c1",)
    deployment = _deployment(cluster)
    assert (deployment.create_index, deployment.modify_index) == (3, 5)


def test_an_allocation_that_joins_by_an_update_is_placed_in_it() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    cluster.place(cluster.add_job(), "a1", node=node)
    newer = cluster.add_job(a_job(priority=80))
    cluster.commit(deployment=a_deployment("d1", newer))
    change = UpdateAlloc(
        id=AllocID("a1"), job=ref(newer), deployment_id=DeploymentID("d1"), clear_deployment_status=True
    )
    cluster.commit(updates=(change,))
    assert _counts(cluster) == (1, 0, 0)
    cluster.commit(updates=(change,))
    assert _counts(cluster) == (1, 0, 0)


@pytest.mark.parametrize(
    ("verdicts", "healthy", "unhealthy"),
    [
        pytest.param((True,), 1, 0, id="healthy"),
        pytest.param((False,), 0, 1, id="unhealthy"),
        pytest.param((True, True), 1, 0, id="once"),
        pytest.param((True, False), 0, 1, id="fell ill"),
        pytest.param((False, True), 0, 1, id="a recovery is not counted"),
        pytest.param((True, None), 1, 0, id="no word changes nothing"),
    ],
)
def test_health_is_counted(verdicts: tuple[bool | None, ...], healthy: int, unhealthy: int) -> None:
    cluster = Cluster()
    node = _deploying(cluster)
    cluster.place(cluster.state.jobs[key()], "a1", node=node, deployment_id="d1")
    for verdict in verdicts:
        cluster.report("a1", healthy=verdict)
    assert _counts(cluster) == (1, healthy, unhealthy)


def test_whether_an_allocation_is_a_canary_is_not_the_nodes_word() -> None:
    cluster = Cluster()
    node = _deploying(cluster)
    cluster.place(cluster.state.jobs[key()], "c1", node=node, deployment_id="d1", details={0: CANARY})
    alloc = cluster.report("c1", healthy=True)
    assert alloc.deployment_status == AllocDeploymentStatus(
        healthy=True, canary=True, modify_index=cluster.state.index
    )


def test_progress_is_due_from_the_first_placement_on() -> None:
    cluster = Cluster()
    node = _deploying(cluster, progress_deadline=10 * MINUTE_NS)
    job = cluster.state.jobs[key()]
    assert _group(cluster).require_progress_by is None
    due = time_text(cluster.now + 10 * MINUTE_NS)
    cluster.place(job, "a1", node=node, deployment_id="d1")
    assert _group(cluster).require_progress_by == due
    cluster.place(job, "a2", node=node, deployment_id="d1")
    assert _group(cluster).require_progress_by == due


@pytest.mark.parametrize(
    ("healthy_after_s", "moves"), [pytest.param(60, True, id="later"), pytest.param(-60, False, id="earlier")]
)
def test_health_moves_the_progress_deadline_only_forward(healthy_after_s: int, moves: bool) -> None:
    cluster = Cluster()
    node = _deploying(cluster, progress_deadline=10 * MINUTE_NS)
    cluster.place(cluster.state.jobs[key()], "a1", node=node, deployment_id="d1")
    before = _group(cluster).require_progress_by
    healthy_at = START_NS + healthy_after_s * SECOND_NS
    report = entries.AllocReport(
        id=AllocID("a1"),
        client_status="running",
        deployment_status=AllocDeploymentStatus(healthy=True, timestamp=time_text(healthy_at)),
    )
    cluster.apply(entries.ReportAllocs(at=cluster.now, reports=(report,)))
    after = _group(cluster).require_progress_by
    assert after == (time_text(healthy_at + 10 * MINUTE_NS) if moves else before)


def test_without_a_deadline_no_progress_is_due() -> None:
    cluster = Cluster()
    node = _deploying(cluster)
    cluster.place(cluster.state.jobs[key()], "a1", node=node, deployment_id="d1")
    cluster.report("a1", healthy=True)
    assert _group(cluster).require_progress_by is None


def test_a_plan_does_not_reset_what_is_counted() -> None:
    cluster = Cluster()
    node = _deploying(cluster, progress_deadline=MINUTE_NS)
    job = cluster.state.jobs[key()]
    cluster.place(job, "a1", node=node, deployment_id="d1")
    cluster.report("a1", healthy=True)
    before = _group(cluster)
    cluster.commit(deployment=a_deployment("d1", job, desired_canaries=2))
    after = _group(cluster)
    assert after.desired_canaries == 2
    for name in ("placed_allocs", "healthy_allocs", "require_progress_by"):
        assert getattr(after, name) == getattr(before, name), name
    assert _deployment(cluster).create_index == 3


def test_groups_a_plan_leaves_out_stay() -> None:
    cluster = Cluster()
    _deploying(cluster, promoted=True)
    job = cluster.state.jobs[key()]
    bare = a_deployment("d1", a_job("web"))
    cluster.commit(deployment=bare)
    assert _group(cluster).promoted, "a promotion cannot be taken back"
    other = Deployment(id=DeploymentID("d1"), job_id=job.id, task_groups={"other": DeploymentState()})
    cluster.commit(deployment=other)
    assert set(_deployment(cluster).task_groups) == {"g", "other"}


def test_an_ended_deployment_stays_as_it_ended() -> None:
    cluster = Cluster()
    _deploying(cluster)
    for status in ("failed", "running"):
        update = DeploymentStatusUpdate(
            deployment_id=DeploymentID("d1"), status=status, status_description=f"is {status}"
        )
        cluster.commit(deployment_updates=(update,))
    deployment = _deployment(cluster)
    assert (deployment.status, deployment.status_description) == ("failed", "is failed")
    assert deployment.modify_index == 4
    assert cluster.state.deployments.latest_of_job(key()) is deployment
    assert not cluster.state.deployments.has_active(key())
