"""Namespaces, node pools, services, scaling, tags and sources: applied, replayed and restored."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.alloc import CLIENT_COMPLETE, Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.group import TaskGroup
from yurt.model.job import Job, JobKey, JobVersionTag
from yurt.model.job_submission import JobSubmission
from yurt.model.job_versions import JOB_VERSIONS_KEPT
from yurt.model.namespace import Namespace
from yurt.model.node_pool import NodePool
from yurt.model.policies import ScalingPolicy
from yurt.model.scaling_event import SCALING_EVENTS_MAX, ScalingEvent
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import AllocID, EvalID, JobID, NodeID
from yurt.state import entries
from yurt.state.apply import Outcome, apply
from yurt.state.snapshot import dump, load
from yurt.state.state import State
from yurt.state.submissions import SubmissionKey

KEY = JobKey("default", JobID("web"))
AT = 1_700_000_000_000_000_000


def a_job(*, count: int = 1, scaling: ScalingPolicy | None = None) -> Job:
    group = TaskGroup(name="g", count=count, scaling=scaling)
    return Job(id=JobID("web"), name="web", task_groups=(group,))


def a_policy(*, most: int = 3) -> ScalingPolicy:
    return ScalingPolicy(id="policy", min=0, max=most)


class Log:
    """A State and the entries it came from."""

    def __init__(self) -> None:
        self.state = State()
        self._encoded: list[bytes] = []

    def put(self, entry: entries.Entry) -> Outcome:
        self._encoded.append(entries.encode_entry(entry))
        return apply(self.state, len(self._encoded), entries.decode_entry(self._encoded[-1]))

    def restored(self) -> State:
        """The State as a snapshot brings it back, which must be what was written."""
        state = load(dump(self.state))
        for name in ("namespaces", "node_pools", "services", "submissions", "scaling_policies"):
            assert getattr(state, name).rows() == getattr(self.state, name).rows()
            assert getattr(state, name).index == getattr(self.state, name).index
        assert state.scaling_events.rows() == self.state.scaling_events.rows()
        assert state.autopilot.rows() == self.state.autopilot.rows()
        return state


def test_namespaces_and_node_pools_keep_when_they_were_made() -> None:
    log = Log()
    for description in ("one", "two"):
        log.put(
            entries.UpsertNamespaces(at=AT, namespaces=(Namespace(name="team", description=description),))
        )
        log.put(entries.UpsertNodePools(at=AT, node_pools=(NodePool(name="gpu", description=description),)))
    team, gpu = log.state.namespaces["team"], log.state.node_pools["gpu"]
    assert (team.description, team.create_index, team.modify_index) == ("two", 1, 3)
    assert (gpu.description, gpu.create_index, gpu.modify_index) == ("two", 2, 4)
    log.restored()
    log.put(entries.DeleteNamespaces(at=AT, names=("team",)))
    log.put(entries.DeleteNodePools(at=AT, names=("gpu",)))
    assert "team" not in log.state.namespaces
    assert "gpu" not in log.state.node_pools


def test_policies_follow_their_job_and_a_restored_job_still_owns_them() -> None:
    log = Log()
    log.put(entries.RegisterJob(at=AT, job=a_job(scaling=a_policy())))
    log.put(entries.RegisterJob(at=AT, job=a_job(count=2, scaling=a_policy())))
    assert log.state.scaling_policies["policy"].modify_index == 1, "the policy itself did not change"
    log.put(entries.RegisterJob(at=AT, job=a_job(scaling=a_policy(most=9))))
    stored = log.state.scaling_policies["policy"]
    assert (stored.max, stored.create_index, stored.modify_index) == (9, 1, 3)
    assert log.state.jobs[KEY].task_groups[0].scaling == stored
    restored = log.restored()
    for state in (log.state, restored):
        apply(state, 4, entries.DeregisterJob(at=AT, namespace="default", job_id="web"))
        assert not state.scaling_policies["policy"].enabled
        apply(state, 5, entries.DeregisterJob(at=AT, namespace="default", job_id="web", purge=True))
        assert len(state.scaling_policies) == 0


def test_scaling_events_are_kept_newest_first_up_to_the_limit() -> None:
    log = Log()
    scaling = entries.GroupScaling(group="g", event=ScalingEvent(count=1))
    log.put(entries.RegisterJob(at=AT, job=a_job(), scaling=scaling))
    for number in range(SCALING_EVENTS_MAX):
        event = ScalingEvent(message=str(number))
        log.put(entries.RecordScaling(at=AT, namespace="default", job_id="web", group="g", event=event))
    events = log.state.scaling_events[KEY].scaling_events["g"]
    assert len(events) == SCALING_EVENTS_MAX
    assert (events[0].message, events[0].create_index) == (
        str(SCALING_EVENTS_MAX - 1),
        SCALING_EVENTS_MAX + 1,
    )
    log.restored()


def test_a_refused_registration_records_no_scaling() -> None:
    log = Log()
    log.put(entries.RegisterJob(at=AT, job=a_job()))
    scaling = entries.GroupScaling(group="g", event=ScalingEvent(count=2))
    log.put(entries.RegisterJob(at=AT, job=a_job(count=2), enforce_index=77, scaling=scaling))
    assert log.state.jobs[KEY].task_groups[0].count == 1
    assert KEY not in log.state.scaling_events


def test_sources_are_kept_as_long_as_their_versions() -> None:
    log = Log()
    for count in range(1, JOB_VERSIONS_KEPT + 3):
        submission = JobSubmission(source=f"count {count}", format="hcl2", job_id=JobID("web"))
        log.put(entries.RegisterJob(at=AT, job=a_job(count=count), submission=submission))
    kept = {job.version for job in log.state.jobs.versions[KEY]}
    assert {row.version for row in log.state.submissions} == kept
    newest = log.state.submissions[SubmissionKey(KEY, max(kept))]
    assert newest.job_modify_index == log.state.jobs[KEY].job_modify_index
    log.restored()


def test_versions_are_tagged_and_marked_without_becoming_current() -> None:
    log = Log()
    for count in (1, 2):
        log.put(entries.RegisterJob(at=AT, job=a_job(count=count)))
    tag = JobVersionTag(name="golden", tagged_time=AT)
    assert log.put(entries.TagJobVersion(at=AT, namespace="default", job_id="web", version=0, tag=tag))
    assert log.put(entries.SetJobStability(at=AT, namespace="default", job_id="web", version=0, stable=True))
    newest, oldest = log.state.jobs.versions[KEY]
    assert (oldest.version_tag, oldest.stable) == (tag, True)
    assert (newest.version_tag, newest.stable, log.state.jobs[KEY].version) == (None, False, 1)
    assert not log.put(entries.TagJobVersion(at=AT, namespace="default", job_id="web", version=9))


def test_services_go_with_their_allocation() -> None:
    log = Log()
    log.put(entries.RegisterJob(at=AT, job=a_job()))
    alloc = Allocation(
        id=AllocID("a"),
        job=log.state.jobs[KEY],
        task_group="g",
        name_index=0,
        node_id=NodeID("n"),
        node_name="n",
        eval_id=EvalID("e"),
        resources=AllocatedResources(),
    )
    log.state.allocs.put(alloc.id, alloc, 1)
    service = ServiceRegistration(id="s", service_name="web", job_id=JobID("web"), alloc_id=alloc.id)
    log.put(entries.UpsertServices(at=AT, services=(service,)))
    log.put(entries.UpsertServices(at=AT, services=(service,)))
    assert log.state.services.named("default", "web")[0].modify_index == 2, "nothing new the second time"
    log.restored()
    log.state.allocs.put(alloc.id, replace(alloc, client_status=CLIENT_COMPLETE), 4)
    assert len(log.state.services) == 0
    log.put(entries.UpsertServices(at=AT, services=(service,)))
    assert len(log.state.services) == 0, "a late word about an ended allocation"
    assert not log.put(entries.DeleteServices(at=AT, service_ids=("s",)))
