"""A history of claims on sticky volumes: made, taken over, deleted, and gone with job or volume."""

from __future__ import annotations

from tests.state.builders import Cluster, a_group, a_job, a_node
from yurt.model.host_volume import DynamicVolume
from yurt.model.job import Job
from yurt.model.node import HostVolume, Node
from yurt.model.volume import VolumeRequest
from yurt.state.entries import DeregisterJob
from yurt.state.volume_entries import DeleteHostVolume, DeleteVolumeClaim, UpsertHostVolume

AT = 10**18


def add_volume_node(cluster: Cluster, number: int, *volume_ids: str) -> Node:
    """A node that offers volumes made at run time; each is named for the number's letter of its id."""
    offered = {
        name: HostVolume(name=name, path=f"/volumes/{volume_id}", id=volume_id)
        for volume_id in volume_ids
        for name in [volume_id.rstrip("0123456789")]
    }
    node = cluster.add_node(a_node(number, host_volumes=offered))
    for name, volume in offered.items():
        made = DynamicVolume(id=volume.id, name=name, plugin_id="mkdir", node_id=node.id)
        cluster.apply(UpsertHostVolume(at=AT, volume=made))
    return node


def add_sticky_job(cluster: Cluster, job_id: str = "db", *names: str) -> Job:
    """A job whose group claims the volumes of these names, or `data`."""
    volumes = {
        name: VolumeRequest(name=name, type="host", source=name, sticky=True) for name in names or ("data",)
    }
    return cluster.add_job(a_job(job_id, a_group(volumes=volumes)))


def claim_history() -> Cluster:
    """A cluster to which every kind of entry about claims was applied."""
    cluster = Cluster()
    first = add_volume_node(cluster, 1, "data1", "logs1")
    second = add_volume_node(cluster, 2, "data2")
    job = add_sticky_job(cluster, "db", "data", "logs")
    cluster.place(job, "a1", node=first)
    cluster.stop("a1")
    cluster.place(job, "a2", node=first)
    cluster.place(job, "a3", node=second)
    [deleted] = [claim.id for claim in cluster.state.volume_claims if claim.volume_id == "data2"]
    cluster.apply(DeleteVolumeClaim(at=AT, claim_id=deleted))
    purged = add_sticky_job(cluster, "purged")
    cluster.place(purged, "b1", node=second)
    cluster.apply(DeregisterJob(at=AT, namespace=purged.namespace, job_id=purged.id, purge=True))
    cluster.apply(DeleteHostVolume(at=AT, volume_id="logs1"))
    return cluster
