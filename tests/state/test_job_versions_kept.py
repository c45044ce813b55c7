"""Which versions of a job are kept."""

from __future__ import annotations

from msgspec.structs import replace

from tests.state.builders import Cluster, a_deployment, a_job, key, ref
from yurt.model.deployment import DeploymentStatusUpdate
from yurt.model.job import JobVersionTag
from yurt.model.job_versions import JOB_VERSIONS_KEPT
from yurt.model.wire import DeploymentID
from yurt.state.entries import DeregisterJob, RegisterJob


def _register(cluster: Cluster, times: int, *, tag: JobVersionTag | None = None) -> None:
    for _ in range(times):
        cluster.add_job(a_job(priority=cluster.state.index % 90 + 1, version_tag=tag))


def _versions(cluster: Cluster) -> list[int]:
    return [job.version for job in cluster.state.jobs.versions[key()]]


def _make_stable(cluster: Cluster) -> None:
    """Let a deployment of the current version succeed."""
    deployment = a_deployment(f"d{cluster.state.index}", cluster.state.jobs[key()])
    cluster.commit(deployment=deployment)
    update = DeploymentStatusUpdate(deployment_id=deployment.id, status="successful", status_description="")
    cluster.commit(deployment_updates=(update,))


def test_the_newest_six_versions_are_kept() -> None:
    cluster = Cluster()
    _register(cluster, 10)
    assert _versions(cluster) == [9, 8, 7, 6, 5, 4]
    assert JOB_VERSIONS_KEPT == 6


def test_an_operator_says_how_many_versions_are_kept() -> None:
    cluster = Cluster()
    for priority in range(1, 13):
        job = a_job(priority=priority)
        cluster.apply(RegisterJob(at=cluster.now, job=job, versions_kept=9))
    assert _versions(cluster) == list(range(11, 2, -1))
    cluster.place(cluster.state.jobs[key()], "a1", node=cluster.add_node())
    assert len(_versions(cluster)) == 9, "a changed status forgets none"
    cluster.apply(DeregisterJob(at=cluster.now, namespace="default", job_id=job.id, versions_kept=3))
    assert _versions(cluster) == [12, 11, 10]


def test_tagged_versions_do_not_count_and_never_go() -> None:
    cluster = Cluster()
    _register(cluster, 1)
    _register(cluster, 2, tag=JobVersionTag(name="golden"))
    _register(cluster, 8)
    assert _versions(cluster) == [10, 9, 8, 7, 6, 5, 2, 1]


def test_the_newest_stable_version_stays_and_the_second_oldest_goes() -> None:
    cluster = Cluster()
    _register(cluster, 1)
    _make_stable(cluster)
    _register(cluster, 8)
    assert _versions(cluster) == [8, 7, 6, 5, 4, 0]
    assert cluster.state.jobs.versions[key()][-1].stable


def test_an_older_stable_version_is_not_protected() -> None:
    cluster = Cluster()
    _register(cluster, 1)
    _make_stable(cluster)
    _register(cluster, 1)
    _make_stable(cluster)
    _register(cluster, 8)
    assert _versions(cluster) == [9, 8, 7, 6, 5, 1]


def test_a_success_marks_an_older_version_stable_without_touching_the_current_one() -> None:
    cluster = Cluster()
    _register(cluster, 1)
    old = cluster.state.jobs[key()]
    cluster.commit(deployment=a_deployment("d1", old))
    _register(cluster, 1)
    current = cluster.state.jobs[key()]
    update = DeploymentStatusUpdate(
        deployment_id=DeploymentID("d1"), status="successful", status_description=""
    )
    cluster.commit(deployment_updates=(update,))
    assert cluster.state.jobs[key()].stable is False
    marked = cluster.state.jobs.version(ref(old))
    assert marked is not None
    assert (marked.stable, marked.modify_index) == (True, cluster.state.index)
    assert cluster.state.jobs.index == cluster.state.index
    assert replace(cluster.state.jobs[key()], status="", modify_index=0) == replace(
        current, status="", modify_index=0
    )


def test_a_changed_status_rewrites_the_stored_version() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.place(job, "a1", node=node)
    stored = cluster.state.jobs.version(ref(job))
    assert stored is cluster.state.jobs[key()]
    assert stored is not None
    assert stored.status == "running"
