"""Claims on sticky volumes: who makes them, who takes them over, what ends them."""

from __future__ import annotations

from tests.state.builders import Cluster, a_node
from tests.state.claim_history import AT, add_sticky_job, add_volume_node, claim_history
from yurt.model.node import HostVolume
from yurt.state.entries import DeregisterJob
from yurt.state.volume_entries import DeleteVolumeClaim


def claims(cluster: Cluster) -> set[tuple[str, str, str]]:
    return {(claim.job_id, claim.volume_id, claim.alloc_id) for claim in cluster.state.volume_claims}


def test_the_first_allocation_claims_the_volume_of_its_node() -> None:
    cluster = Cluster()
    node = add_volume_node(cluster, 1, "data1")
    cluster.place(add_sticky_job(cluster), "a1", node=node)

    [claim] = cluster.state.volume_claims.rows()
    assert (claim.namespace, claim.job_id, claim.task_group_name) == ("default", "db", "g")
    assert (claim.volume_id, claim.volume_name, claim.alloc_id) == ("data1", "data", "a1")
    assert claim.create_index == claim.modify_index == cluster.state.index


def test_a_successor_takes_the_claim_over_and_a_sibling_makes_its_own() -> None:
    cluster = Cluster()
    node = add_volume_node(cluster, 1, "data1")
    job = add_sticky_job(cluster)
    cluster.place(job, "a1", node=node)
    cluster.stop("a1")
    cluster.place(job, "a2", node=node)
    assert claims(cluster) == {("db", "data1", "a2")}

    cluster.place(job, "a3", node=node)
    assert claims(cluster) == {("db", "data1", "a2"), ("db", "data1", "a3")}


def test_a_claim_outlives_its_stopped_job_but_not_a_purged_one() -> None:
    cluster = Cluster()
    node = add_volume_node(cluster, 1, "data1")
    job = add_sticky_job(cluster)
    cluster.place(job, "a1", node=node)
    cluster.apply(DeregisterJob(at=AT, namespace=job.namespace, job_id=job.id))
    assert claims(cluster) == {("db", "data1", "a1")}

    cluster.apply(DeregisterJob(at=AT, namespace=job.namespace, job_id=job.id, purge=True))
    assert claims(cluster) == set()


def test_volumes_of_the_nodes_own_configuration_are_not_claimed() -> None:
    cluster = Cluster()
    node = cluster.add_node(a_node(host_volumes={"data": HostVolume(name="data", path="/srv")}))
    cluster.place(add_sticky_job(cluster), "a1", node=node)

    assert claims(cluster) == set()


def test_deleted_claims_and_volumes_are_gone() -> None:
    cluster = claim_history()

    assert claims(cluster) == {("db", "data1", "a2")}
    assert cluster.apply(DeleteVolumeClaim(at=AT, claim_id="nobody's")) is False
