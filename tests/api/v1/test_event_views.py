"""What entries changed, as events."""

from __future__ import annotations

import msgspec

from yurt.api.v1.event_views import events_of
from yurt.model.host_volume import DynamicVolume
from yurt.model.job import JOB_DEAD, JOB_PENDING, Job
from yurt.model.wire import JobID
from yurt.state.journal import Change, Changed


def test_host_volumes_are_told_by_id_name_and_plugin() -> None:
    volume = DynamicVolume(id="v1", name="data", plugin_id="mkdir", namespace="team")
    (made,) = events_of(Changed(7, "UpsertHostVolume", {"host-volumes": {"v1": Change(volume)}}))
    assert (made.topic, made.type, made.key) == ("HostVolume", "HostVolumeRegistered", "v1")
    assert (made.namespace, made.filter_keys) == ("team", ("v1", "data", "mkdir"))
    shown = msgspec.to_builtins(made.payload)["Volume"]
    assert (shown["Name"], shown["Allocations"]) == ("data", None)

    gone = Change(volume, is_deleted=True)
    (deleted,) = events_of(Changed(8, "DeleteHostVolume", {"host-volumes": {"v1": gone}}))
    assert (deleted.type, deleted.key) == ("HostVolumeDeleted", "")


def test_a_stopped_job_is_told_as_dead() -> None:
    job = Job(id=JobID("web"), stop=True, status=JOB_PENDING)
    (event,) = events_of(Changed(7, "DeregisterJob", {"jobs": {"web": Change(job)}}))
    assert event.payload["Job"].status == JOB_DEAD
