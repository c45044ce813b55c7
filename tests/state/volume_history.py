"""A history of volumes made at run time: one that its node offers, one that it does not, one that went."""

from __future__ import annotations

from msgspec.structs import replace

from tests.state.builders import Cluster
from tests.state.entry_maker import EntryMaker, RandomChoices
from yurt.model.host_volume import DynamicVolume
from yurt.model.node import HostVolume
from yurt.state.volume_entries import DeleteHostVolume, UpsertHostVolume

AT = 10**18


def volume_history() -> Cluster:
    """A cluster to which every kind of entry about volumes was applied."""
    cluster = Cluster()
    maker = EntryMaker(cluster, RandomChoices(3))
    registered = maker.register_node()
    cluster.apply(registered)
    for volume_id in ("kept", "awaited", "gone"):
        volume = DynamicVolume(
            id=volume_id, name=f"{volume_id}-data", plugin_id="mkdir", node_id=registered.node.id
        )
        cluster.apply(UpsertHostVolume(at=AT, volume=volume))
    offered = {"kept-data": HostVolume(name="kept-data", path="/volumes/kept", id="kept")}
    cluster.apply(replace(registered, node=replace(registered.node, host_volumes=offered)))
    cluster.apply(DeleteHostVolume(at=AT, volume_id="gone"))
    return cluster
