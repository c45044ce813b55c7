"""Plans: placements, stops, updates, preemptions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.state.builders import (
    DEFAULT,
    Cluster,
    a_job,
    a_node,
    an_eval,
    key,
    placements_of,
    ref,
    some_resources,
)
from yurt.model.alloc import (
    Allocation,
    AllocDeploymentStatus,
    AllocStateChange,
    RescheduleEvent,
    RescheduleTracker,
)
from yurt.model.node import Node
from yurt.model.plan import JobRef, PlacementDetail, PlanChanges, Preemption, StopAllocs, UpdateAlloc
from yurt.model.wire import AllocID, DeploymentID, EvalID
from yurt.state.apply_plans import PlanOutcome
from yurt.state.entries import CommitPlan, DeregisterJob


def _alloc(cluster: Cluster, alloc_id: str = "a1") -> Allocation:
    return cluster.state.allocs[AllocID(alloc_id)]


def _running(cluster: Cluster, *alloc_ids: str) -> Node:
    """One node with running allocations of the job `web`."""
    node = cluster.add_node()
    cluster.place(cluster.add_job(), *alloc_ids, node=node)
    for alloc_id in alloc_ids:
        cluster.report(alloc_id)
    return node


def test_a_placement_becomes_an_allocation() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    at = cluster.now
    placed = cluster.place(job, "a1", "a2", node=node)
    assert [alloc.name for alloc in placed] == ["web.g[0]", "web.g[1]"]
    first = placed[0]
    assert (first.node_id, first.node_name, first.eval_id) == (node.id, "n1", "planner")
    assert (first.desired_status, first.client_status) == ("run", "pending")
    assert (first.create_index, first.modify_index, first.alloc_modify_index) == (3, 3, 3)
    assert (first.create_time, first.modify_time) == (at, at)
    assert first.resources is placed[1].resources
    assert first.job is job, "as it was when it was placed"


def test_details_make_a_placement_its_own() -> None:
    cluster = Cluster()
    node = _running(cluster, "a1")
    job = cluster.state.jobs[key()]
    tracker = RescheduleTracker(events=(RescheduleEvent(prev_alloc_id="a1"),))
    detail = PlacementDetail(
        resources=some_resources(ports=(8080,)),
        metrics=b"own",
        previous_allocation="a1",
        deployment_status=AllocDeploymentStatus(canary=True),
        reschedule_tracker=tracker,
        preempted_allocations=("b1",),
        desired_description="why",
    )
    own, plain = cluster.place(job, "a2", "a3", node=node, details={0: detail})
    assert (own.resources, own.metrics) == (detail.resources, b"own")
    assert own.deployment_status == AllocDeploymentStatus(canary=True, modify_index=cluster.state.index)
    assert (own.reschedule_tracker, own.preempted_allocations) == (tracker, ("b1",))
    assert (plain.previous_allocation, plain.desired_description) == ("", "")
    previous = _alloc(cluster)
    assert (previous.next_allocation, previous.modify_index) == ("a2", cluster.state.index)
    assert previous.alloc_modify_index < cluster.state.index, "its node need not hear of it"


@pytest.mark.parametrize("state_of_job", ["stopped", "purged", "version gone", "namesake"])
def test_nothing_is_placed_for_a_job_that_went_away(state_of_job: str) -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    wanted = ref(job)
    if state_of_job == "version gone":
        wanted = replace(wanted, version=9)
    else:
        purge = state_of_job != "stopped"
        cluster.apply(DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id="web", purge=purge))
    if state_of_job == "namesake":
        cluster.add_job()
    placements = replace(placements_of(job, "a1", node=node), job=wanted)
    assert cluster.commit(placements=(placements,)) == PlanOutcome(placed=0)
    assert len(cluster.state.allocs) == 0


@pytest.mark.parametrize("details", [{}, {0: PlacementDetail(desired_description="x")}])
def test_nothing_is_placed_on_a_node_that_went_away(details: dict[int, PlacementDetail]) -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    placements = placements_of(job, "a1", "a2", node=node, details=details)
    placements = replace(placements, node_ids=[a_node(9).id, node.id])
    assert cluster.commit(placements=(placements,)) == PlanOutcome(placed=1)
    assert [alloc.id for alloc in cluster.state.allocs] == ["a2"]


def test_a_stop_says_why_and_empties_the_servers_marks() -> None:
    cluster = Cluster()
    _running(cluster, "a1")
    change = UpdateAlloc(id=AllocID("a1"), alloc_states=(AllocStateChange(value="unknown"),))
    cluster.commit(updates=(change,))
    at = cluster.now
    ids = [AllocID("a1"), AllocID("unknown")]
    cluster.commit(
        stops=(StopAllocs(ids=ids, description="why", client_status="lost", followup_eval_id="later"),)
    )
    alloc = _alloc(cluster)
    assert (alloc.desired_status, alloc.desired_description) == ("stop", "why")
    assert (alloc.client_status, alloc.followup_eval_id, alloc.alloc_states) == ("lost", "later", ())
    assert (alloc.modify_time, alloc.alloc_modify_index) == (at, cluster.state.index)


def test_a_preempted_allocation_names_the_one_it_made_room_for() -> None:
    cluster = Cluster()
    _running(cluster, "a1")
    preemptions = (Preemption(AllocID("a1"), AllocID("b1")), Preemption(AllocID("unknown"), AllocID("b2")))
    changes = PlanChanges(preemptions=preemptions)
    cluster.apply(CommitPlan(at=cluster.now, eval_id=EvalID("e"), changes=changes, evals=(an_eval("hurt"),)))
    alloc = _alloc(cluster)
    assert (alloc.desired_status, alloc.preempted_by_allocation) == ("evict", "b1")
    assert alloc.desired_description == "Preempted by alloc ID b1"
    assert cluster.state.evals[EvalID("hurt")].create_index == cluster.state.index


def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    cluster = Cluster()
    _running(cluster, "a1")
    newer = cluster.add_job(a_job(priority=80))
    before = _alloc(cluster)
    change = UpdateAlloc(id=before.id, job=ref(newer), eval_id=EvalID("e9"), deployment_id=DeploymentID("d1"))
    cluster.commit(updates=(change, UpdateAlloc(id=AllocID("unknown"))))
    after = _alloc(cluster)
    assert (after.job.version, after.eval_id, after.deployment_id) == (1, "e9", "d1")
    for name in ("client_status", "resources", "task_states", "metrics", "create_index", "node_id"):
        assert getattr(after, name) == getattr(before, name), name


@pytest.mark.parametrize(
    ("planned", "stored"),
    [("lost", "lost"), ("unknown", "unknown"), ("complete", "running"), ("pending", "running")],
)
def test_a_plan_may_only_say_lost_or_unknown_of_a_client(planned: str, stored: str) -> None:
    cluster = Cluster()
    _running(cluster, "a1")
    cluster.commit(updates=(UpdateAlloc(id=AllocID("a1"), client_status=planned),))
    assert _alloc(cluster).client_status == stored


def test_an_update_of_a_replacement_links_its_predecessor_again() -> None:
    cluster = Cluster()
    node = _running(cluster, "a1")
    job = cluster.state.jobs[key()]
    cluster.place(job, "a2", node=node, details={0: PlacementDetail(previous_allocation="a1")})
    cluster.commit(updates=(UpdateAlloc(id=AllocID("a2"), desired_description="x"),))
    assert _alloc(cluster, "a1").modify_index == cluster.state.index


def test_an_update_keeps_the_job_if_the_version_is_gone() -> None:
    cluster = Cluster()
    _running(cluster, "a1")
    cluster.commit(updates=(UpdateAlloc(id=AllocID("a1"), job=JobRef(DEFAULT, "web", 1, 99)),))
    assert _alloc(cluster).job.version == 0


def test_room_follows_stops_updates_and_reports() -> None:
    cluster = Cluster()
    node = _running(cluster, "a1", "a2")
    columns, slot = cluster.state.columns, cluster.state.columns.slots[node.id]
    assert (columns.used[0, slot], columns.stopping[0, slot]) == (1000, 0)
    cluster.stop("a1")
    assert (columns.used[0, slot], columns.stopping[0, slot]) == (1000, 500)
    cluster.commit(updates=(UpdateAlloc(id=AllocID("a2"), resources=some_resources(cpu=800)),))
    assert (columns.used[0, slot], columns.stopping[0, slot]) == (1300, 500)
    cluster.report("a1", "complete")
    assert (columns.used[0, slot], columns.stopping[0, slot]) == (800, 0)


def test_a_commit_moves_its_evaluation_on() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job(None, an_eval("planner"))
    cluster.place(job, "a1", node=node)
    assert cluster.state.evals[EvalID("planner")].modify_index == 3
