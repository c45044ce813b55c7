"""A job is brought to what it asks for, one table of decisions after the other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.scheduler.reconcile.builders import (
    DEPLOYMENT,
    EVAL,
    NOW,
    ROLLING,
    a_deployment,
    a_group,
    a_job,
    allocs_of,
    an_alloc,
    changed,
    outline,
    reconciled,
)
from yurt.model.alloc import (
    Allocation,
    AllocStateChange,
    DesiredTransition,
    RescheduleEvent,
    RescheduleTracker,
)
from yurt.model.deployment import DeploymentState
from yurt.model.job import BATCH, Job
from yurt.model.policies import DisconnectStrategy, ReschedulePolicy, UpdateStrategy
from yurt.model.times import MINUTE_NS, SECOND_NS, time_text
from yurt.scheduler.reconcile import group
from yurt.scheduler.reconcile.changes import LOST, MIGRATING, NOT_NEEDED, RECONNECTED

S = SECOND_NS
ONE = a_job(a_group(count=1))
KEEPING = a_job(a_group(count=1, disconnect=DisconnectStrategy(lost_after=MINUTE_NS)))
ONCE = a_job(
    a_group(
        count=1,
        reschedule_policy=ReschedulePolicy(
            attempts=1, interval=10 * MINUTE_NS, delay=5 * S, delay_function="constant"
        ),
    )
)
USED_UP = RescheduleTracker(events=(RescheduleEvent(reschedule_time=NOW - MINUTE_NS, delay=5 * S),))
BATCH_JOB = a_job(a_group(count=1), kind=BATCH)
FAILED_LONG_AGO = NOW - MINUTE_NS


@pytest.mark.parametrize(
    ("job", "alloc", "expected"),
    [
        pytest.param(ONE, an_alloc(ONE), {"ignore": 1}, id="running"),
        pytest.param(changed(ONE), an_alloc(ONE), {"destructive_update": 1}, id="running, new version"),
        pytest.param(
            changed(ONE, task_groups=ONE.task_groups, priority=60),
            an_alloc(ONE),
            {"in_place_update": 1},
            id="running, new priority",
        ),
        pytest.param(
            ONE, an_alloc(ONE, transition=DesiredTransition(migrate=True)), {"migrate": 1}, id="to migrate"
        ),
        pytest.param(ONE, an_alloc(ONE, node="draining"), {"ignore": 1}, id="waits for the drainer"),
        pytest.param(ONE, an_alloc(ONE, node="down"), {"stop": 1, "place": 1}, id="node down"),
        pytest.param(ONE, an_alloc(ONE, node="gone"), {"stop": 1, "place": 1}, id="node gone"),
        pytest.param(
            KEEPING,
            an_alloc(KEEPING, node="disconnected"),
            {"ignore": 1, "disconnect": 1, "reschedule_later": 1},
            id="silent node",
        ),
        pytest.param(ONE, an_alloc(ONE, node="disconnected"), {"stop": 1, "place": 1}, id="silent, no block"),
        pytest.param(
            KEEPING,
            an_alloc(KEEPING, status="unknown", unknown_since=NOW - S, node="disconnected"),
            {"ignore": 1},
            id="unknown",
        ),
        pytest.param(
            KEEPING,
            an_alloc(KEEPING, status="unknown", unknown_since=NOW - 2 * MINUTE_NS, node="disconnected"),
            {"stop": 1, "place": 1},
            id="unknown for too long",
        ),
        pytest.param(
            KEEPING, an_alloc(KEEPING, unknown_since=NOW - S), {"ignore": 1, "reconnect": 1}, id="back again"
        ),
        pytest.param(
            ONE,
            an_alloc(ONE, status="failed", finished_at=FAILED_LONG_AGO),
            {"stop": 1, "place": 1},
            id="failed, delay over",
        ),
        pytest.param(
            ONE,
            an_alloc(ONE, status="failed", finished_at=NOW),
            {"ignore": 1, "reschedule_later": 1},
            id="failed just now",
        ),
        pytest.param(
            ONCE,
            an_alloc(ONCE, status="failed", finished_at=FAILED_LONG_AGO, reschedule_tracker=USED_UP),
            {"ignore": 1},
            id="failed, attempts used up",
        ),
        pytest.param(
            ONE,
            an_alloc(ONE, status="failed", finished_at=NOW, followup_eval_id="other"),
            {"ignore": 1},
            id="failed, waits for its follow-up",
        ),
        pytest.param(
            ONE,
            an_alloc(ONE, status="failed", finished_at=NOW, followup_eval_id=EVAL),
            {"stop": 1, "place": 1},
            id="failed, this is its follow-up",
        ),
        pytest.param(
            ONE,
            an_alloc(ONE, status="failed", finished_at=FAILED_LONG_AGO, next_allocation="other"),
            {"place": 1},
            id="failed and replaced before",
        ),
        pytest.param(
            ONE,
            an_alloc(
                ONE, status="failed", finished_at=NOW, transition=DesiredTransition(force_reschedule=True)
            ),
            {"stop": 1, "place": 1},
            id="failed, rescheduling forced",
        ),
        pytest.param(ONE, an_alloc(ONE, status="complete"), {"place": 1}, id="a service that ended"),
        pytest.param(ONE, an_alloc(ONE, desired_status="stop"), {"place": 1}, id="told to stop"),
        pytest.param(
            BATCH_JOB, an_alloc(BATCH_JOB, status="complete"), {"ignore": 1}, id="batch, ended well"
        ),
        pytest.param(
            changed(BATCH_JOB),
            an_alloc(BATCH_JOB, status="complete"),
            {"ignore": 1, "place": 1},
            id="batch, ended well, new version",
        ),
        pytest.param(
            BATCH_JOB,
            an_alloc(BATCH_JOB, status="failed", finished_at=FAILED_LONG_AGO),
            {"stop": 1, "place": 1},
            id="batch, failed",
        ),
        pytest.param(BATCH_JOB, an_alloc(BATCH_JOB, node="down"), {"stop": 1, "place": 1}, id="batch, down"),
        pytest.param(
            BATCH_JOB, an_alloc(BATCH_JOB, status="lost"), {"ignore": 1}, id="batch, lost, desired to run"
        ),
        pytest.param(
            BATCH_JOB,
            an_alloc(BATCH_JOB, transition=DesiredTransition(migrate=True, migrate_disable_placement=True)),
            {"migrate": 1},
            id="batch, drained",
        ),
    ],
)
def test_what_becomes_of_one_instance(job: Job, alloc: Allocation, expected: dict[str, int]) -> None:
    assert outline(reconciled(job, [alloc])) == expected


@pytest.mark.parametrize(
    ("running", "count", "placed", "stopped"),
    [
        pytest.param(0, 3, [0, 1, 2], [], id="new job"),
        pytest.param(3, 3, [], [], id="at its count"),
        pytest.param(2, 4, [2, 3], [], id="scaled up"),
        pytest.param(5, 3, [], [4, 3], id="scaled down: highest numbers go"),
        pytest.param(3, 0, [], [0, 1, 2], id="to nothing"),
    ],
)
def test_a_group_reaches_its_count(running: int, count: int, placed: list[int], stopped: list[int]) -> None:
    job = a_job(a_group(count=count))
    changes = reconciled(job, allocs_of(job, running))
    assert [place.name_index for place in changes.place] == placed
    assert sorted(stop.alloc.name_index for stop in changes.stop) == sorted(stopped)
    assert {stop.description for stop in changes.stop} <= {NOT_NEEDED}


@pytest.mark.parametrize("job", [None, a_job(stop=True)], ids=["purged", "stopped"])
def test_a_stopped_job_stops_everything_that_runs(job: Job | None) -> None:
    running = a_job()
    allocs = [
        an_alloc(running, 0),
        an_alloc(running, 1, node="down"),
        an_alloc(running, 2, status="failed"),
        an_alloc(running, 3, desired_status="stop"),
    ]
    changes = reconciled(job, allocs)
    assert [(stop.alloc.name_index, stop.client_status) for stop in changes.stop] == [(0, ""), (1, "lost")]
    assert not changes.place
    assert outline(changes) == {"stop": 2}


def test_a_removed_group_is_stopped() -> None:
    job = a_job(a_group("g", count=1))
    changes = reconciled(job, [an_alloc(job), an_alloc(job, group="gone")])
    assert outline(changes, "gone") == {"stop": 1}
    assert outline(changes) == {"ignore": 1}


def test_a_lost_instance_keeps_its_name_and_is_linked() -> None:
    job = a_job(a_group(count=2))
    lost = an_alloc(job, 1, node="down")
    changes = reconciled(job, [an_alloc(job, 0), lost])
    (place,) = changes.place
    assert (place.name_index, place.previous, place.is_reschedule, place.stop) == (1, lost, False, None)
    (stop,) = changes.stop
    assert (stop.description, stop.client_status) == (LOST, "lost")


def test_lost_surplus_is_not_replaced() -> None:
    job = a_job(a_group(count=1))
    changes = reconciled(job, [an_alloc(job, 0), an_alloc(job, 1, node="down")])
    assert not changes.place


def test_a_migrating_instance_is_stopped_even_without_a_replacement() -> None:
    job = a_job(a_group(count=1))
    moving = an_alloc(job, node="draining", transition=DesiredTransition(migrate=True))
    changes = reconciled(job, [moving])
    (place,) = changes.place
    assert (place.previous, place.stop) == (moving, None)
    assert [(stop.alloc, stop.description) for stop in changes.stop] == [(moving, MIGRATING)]


def test_a_failed_instance_is_stopped_only_with_its_replacement() -> None:
    failed = an_alloc(ONE, status="failed", finished_at=FAILED_LONG_AGO)
    (place,) = reconciled(ONE, [failed]).place
    assert place.is_reschedule
    assert place.stop is not None
    assert place.stop.alloc is failed


def test_failures_near_in_time_share_a_follow_up() -> None:
    job = a_job(a_group(count=3))
    allocs = [
        an_alloc(job, 0, status="failed", finished_at=NOW),
        an_alloc(job, 1, status="failed", finished_at=NOW + 4 * S),
        an_alloc(job, 2, status="failed", finished_at=NOW + 5 * S),
    ]
    changes = reconciled(job, allocs)
    assert [(e.triggered_by, e.wait_until) for e in changes.follow_ups] == [
        ("alloc-reschedule", time_text(NOW + 30 * S)),
        ("alloc-reschedule", time_text(NOW + 35 * S)),
    ]
    waits_for = {update.id: update.followup_eval_id for update in changes.updates}
    first, second = (evaluation.id for evaluation in changes.follow_ups)
    assert [waits_for[alloc.id] for alloc in allocs] == [first, first, second]


class TestRollingUpdates:
    OLD = a_job(a_group(count=5, update=UpdateStrategy(max_parallel=2, progress_deadline=MINUTE_NS)))
    NEW = changed(OLD)

    def test_a_new_version_replaces_the_lowest_numbers_first(self) -> None:
        changes = reconciled(self.NEW, allocs_of(self.OLD, 5))
        assert [place.name_index for place in changes.destructive] == [0, 1]
        assert outline(changes) == {"ignore": 3, "destructive_update": 2}
        assert changes.deployment is not None
        assert changes.deployment.task_groups["g"].desired_total == 5
        assert changes.deployment.status_description == "Deployment is running"

    @pytest.mark.parametrize(
        ("health", "replaced"),
        [
            pytest.param([True, True], 2, id="both healthy"),
            pytest.param([True, None], 1, id="one not yet healthy"),
            pytest.param([None, None], 0, id="none healthy yet"),
            pytest.param([True, False], 0, id="one unhealthy"),
        ],
    )
    def test_instances_that_are_not_healthy_hold_the_update(
        self, health: list[bool | None], replaced: int
    ) -> None:
        deployment = a_deployment(self.NEW, DeploymentState(desired_total=5))
        allocs = [
            *(
                an_alloc(self.NEW, i, node=f"ready-{i}", healthy=h, deployment_id=DEPLOYMENT)
                for i, h in enumerate(health)
            ),
            *allocs_of(self.OLD, 5)[2:],
        ]
        changes = reconciled(self.NEW, allocs, deployment=deployment)
        assert len(changes.destructive) == replaced
        assert changes.deployment is None

    @pytest.mark.parametrize("status", ["paused", "failed"])
    def test_a_held_deployment_replaces_only_what_is_lost(self, status: str) -> None:
        deployment = a_deployment(self.NEW, DeploymentState(desired_total=5), status=status)
        allocs = allocs_of(self.OLD, 5)
        allocs[0] = replace(allocs[0], node_id="down")
        changes = reconciled(self.NEW, allocs, deployment=deployment)
        assert not changes.destructive
        assert [place.name_index for place in changes.place] == [0]

    def test_a_failed_instance_of_an_active_deployment_waits_for_its_watcher(self) -> None:
        deployment = a_deployment(self.NEW, DeploymentState(desired_total=5))
        allocs = allocs_of(self.NEW, 5, healthy=True, deployment_id=DEPLOYMENT)
        allocs[0] = an_alloc(
            self.NEW, 0, status="failed", finished_at=FAILED_LONG_AGO, healthy=False, deployment_id=DEPLOYMENT
        )
        assert outline(reconciled(self.NEW, allocs, deployment=deployment)) == {"ignore": 5}
        allocs[0] = replace(allocs[0], desired_transition=DesiredTransition(reschedule=True))
        assert outline(reconciled(self.NEW, allocs, deployment=deployment)) == {
            "ignore": 4,
            "place": 1,
            "stop": 1,
        }

    def test_a_failed_deployments_own_failures_are_not_placed_anew(self) -> None:
        deployment = a_deployment(self.NEW, DeploymentState(desired_total=5), status="failed")
        allocs = [
            an_alloc(self.NEW, 0, status="failed", finished_at=FAILED_LONG_AGO, deployment_id=DEPLOYMENT),
            an_alloc(self.OLD, 1, status="failed", finished_at=FAILED_LONG_AGO),
            *allocs_of(self.OLD, 5)[2:],
        ]
        changes = reconciled(self.NEW, allocs, deployment=deployment)
        assert [place.name_index for place in changes.place] == [1]

    def test_a_deployment_is_done_when_all_are_healthy(self) -> None:
        state = DeploymentState(desired_total=5, healthy_allocs=5)
        allocs = allocs_of(self.NEW, 5, healthy=True, deployment_id=DEPLOYMENT)
        changes = reconciled(self.NEW, allocs, deployment=a_deployment(self.NEW, state))
        assert [update.status for update in changes.deployment_updates] == ["successful"]

    @pytest.mark.parametrize(
        ("job", "description"),
        [
            pytest.param(changed(NEW), "Cancelled due to newer version of job", id="overtaken"),
            pytest.param(replace(NEW, stop=True), "Cancelled because job is stopped", id="stopped"),
        ],
    )
    def test_an_overtaken_deployment_is_cancelled(self, job: Job, description: str) -> None:
        deployment = a_deployment(self.NEW, DeploymentState(desired_total=5))
        (update,) = reconciled(job, deployment=deployment).deployment_updates
        assert (update.status, update.status_description) == ("cancelled", description)

    def test_a_job_that_runs_gets_no_new_deployment_for_a_replacement(self) -> None:
        done = a_deployment(self.OLD, DeploymentState(desired_total=5), status="successful")
        allocs = allocs_of(self.OLD, 5)[1:]
        changes = reconciled(self.OLD, allocs, deployment=done)
        assert len(changes.place) == 1
        assert changes.deployment is None

    def test_in_place_updates_count_to_the_total(self) -> None:
        job = changed(self.OLD, task_groups=self.OLD.task_groups, priority=70)
        changes = reconciled(job, allocs_of(self.OLD, 3))
        assert outline(changes) == {"in_place_update": 3, "place": 2}
        assert changes.deployment is not None
        assert changes.deployment.task_groups["g"].desired_total == 5

    def test_what_no_longer_fits_where_it_is_is_replaced(self) -> None:
        job = changed(self.OLD, task_groups=self.OLD.task_groups, priority=70)
        allocs = allocs_of(self.OLD, 5)
        changes = reconciled(job, allocs, unfit=[allocs[3].id])
        assert outline(changes) == {"in_place_update": 4, "destructive_update": 1}


class TestCanaries:
    OLD = a_job(
        a_group(count=3, update=UpdateStrategy(max_parallel=2, canary=2, progress_deadline=MINUTE_NS))
    )
    NEW = changed(OLD)

    def canary(self, index: int, healthy: bool | None = None, node: str = "ready-5") -> Allocation:
        return an_alloc(self.NEW, index, node=node, canary=True, healthy=healthy, deployment_id=DEPLOYMENT)

    def state(self, *canaries: Allocation, promoted: bool = False) -> DeploymentState:
        return DeploymentState(
            desired_total=3,
            desired_canaries=2,
            promoted=promoted,
            placed_canaries=tuple(alloc.id for alloc in canaries),
        )

    def test_a_first_version_has_no_canaries(self) -> None:
        assert outline(reconciled(self.OLD)) == {"place": 3}

    def test_a_new_version_is_tried_out_beside_the_old(self) -> None:
        changes = reconciled(self.NEW, allocs_of(self.OLD, 3))
        assert [(place.name_index, place.is_canary) for place in changes.place] == [(0, True), (1, True)]
        assert outline(changes) == {"ignore": 3, "canary": 2}
        assert changes.deployment is not None
        assert changes.deployment.status_description == "Deployment is running but requires manual promotion"
        assert changes.deployment.task_groups["g"].desired_canaries == 2

    def test_nothing_moves_before_promotion(self) -> None:
        canaries = [self.canary(0, healthy=True), self.canary(1, healthy=True)]
        deployment = a_deployment(self.NEW, self.state(*canaries))
        changes = reconciled(self.NEW, [*allocs_of(self.OLD, 3), *canaries], deployment=deployment)
        assert outline(changes) == {"ignore": 5}

    def test_promoted_canaries_take_their_places(self) -> None:
        canaries = [self.canary(0, healthy=True), self.canary(1, healthy=True)]
        deployment = a_deployment(self.NEW, self.state(*canaries, promoted=True))
        changes = reconciled(self.NEW, [*allocs_of(self.OLD, 3), *canaries], deployment=deployment)
        assert sorted(stop.alloc.name_index for stop in changes.stop) == [0, 1]
        assert {stop.alloc.job.version for stop in changes.stop} == {0}
        assert [place.name_index for place in changes.destructive] == [2]
        assert outline(changes) == {"ignore": 2, "stop": 2, "destructive_update": 1}

    def test_a_lost_canary_and_a_lost_instance_are_replaced_each_in_its_version(self) -> None:
        canary = self.canary(0, node="down")
        allocs = [*allocs_of(self.OLD, 2), an_alloc(self.OLD, 2, node="down"), canary, self.canary(1)]
        deployment = a_deployment(self.NEW, self.state(canary, self.canary(1)))
        changes = reconciled(self.NEW, allocs, deployment=deployment)
        assert [(p.name_index, p.is_canary, p.keeps_version) for p in changes.place] == [
            (0, True, False),
            (2, False, True),
        ]
        assert outline(changes) == {"ignore": 3, "place": 1, "stop": 1, "canary": 1}

    def test_canaries_of_a_failed_deployment_are_stopped(self) -> None:
        canaries = [self.canary(0, healthy=False), self.canary(1, healthy=True)]
        deployment = a_deployment(self.NEW, self.state(*canaries), status="failed")
        changes = reconciled(self.NEW, [*allocs_of(self.OLD, 3), *canaries], deployment=deployment)
        assert {stop.alloc.id for stop in changes.stop} == {alloc.id for alloc in canaries}
        assert not changes.place
        assert not changes.destructive

    def test_canaries_of_an_overtaken_deployment_are_stopped(self) -> None:
        canary = self.canary(0, healthy=True)
        newest = changed(self.NEW)
        deployment = a_deployment(self.NEW, self.state(canary))
        changes = reconciled(newest, [*allocs_of(self.OLD, 3), canary], deployment=deployment)
        assert [stop.alloc for stop in changes.stop] == [canary]
        assert sum(place.is_canary for place in changes.place) == 2


class TestSilentNodes:
    def test_what_runs_on_a_silent_node_becomes_unknown(self) -> None:
        alloc = an_alloc(KEEPING, node="disconnected")
        changes = reconciled(KEEPING, [alloc])
        timeout, reschedule = changes.follow_ups
        assert (timeout.triggered_by, timeout.wait_until) == (
            "max-disconnect-timeout",
            time_text(NOW + MINUTE_NS),
        )
        assert (reschedule.triggered_by, reschedule.wait_until) == (
            "alloc-reschedule",
            time_text(NOW + 30 * S),
        )
        (update,) = changes.updates
        assert (update.client_status, update.followup_eval_id) == ("unknown", reschedule.id)

    def test_its_follow_up_replaces_it_once(self) -> None:
        unknown = an_alloc(
            KEEPING, node="disconnected", status="unknown", unknown_since=NOW - 30 * S, followup_eval_id=EVAL
        )
        changes = reconciled(KEEPING, [unknown])
        (place,) = changes.place
        assert (place.previous, place.stop) == (unknown, None)
        replaced = replace(unknown, next_allocation="other")
        again = reconciled(KEEPING, [replaced, an_alloc(KEEPING, alloc_id="other")])
        assert not again.place
        assert not again.stop

    def test_without_replacing_only_the_timeout_waits(self) -> None:
        job = a_job(a_group(count=1, disconnect=DisconnectStrategy(lost_after=MINUTE_NS, replace=False)))
        changes = reconciled(job, [an_alloc(job, node="disconnected")])
        assert [evaluation.triggered_by for evaluation in changes.follow_ups] == ["max-disconnect-timeout"]
        assert not changes.place

    @pytest.mark.parametrize(
        ("option", "original_stays"),
        [("keep_original", True), ("keep_replacement", False), ("best_score", True)],
    )
    def test_one_of_two_survives_a_reconnect(self, option: str, original_stays: bool) -> None:
        job = a_job(a_group(count=1, disconnect=DisconnectStrategy(lost_after=MINUTE_NS, reconcile=option)))
        original = an_alloc(job, unknown_since=NOW - S, next_allocation="replacement")
        replacement = an_alloc(job, node="ready-1", alloc_id="replacement", previous_allocation=original.id)
        changes = reconciled(job, [original, replacement])
        (stop,) = changes.stop
        loser, text = (replacement, RECONNECTED) if original_stays else (original, NOT_NEEDED)
        assert (stop.alloc, stop.description) == (loser, text)
        assert outline(changes) == {"ignore": 1, "stop": 1, **({"reconnect": 1} if original_stays else {})}

    def test_lost_work_is_held_back_while_its_node_may_be_stopping_it(self) -> None:
        job = a_job(a_group(count=2, disconnect=DisconnectStrategy(stop_on_client_after=3 * S)))
        lost = an_alloc(job, 0, node="down")
        changes = reconciled(job, [lost, an_alloc(job, 1)])
        (follow_up,) = changes.follow_ups
        assert (follow_up.triggered_by, follow_up.wait_until) == ("alloc-failure", time_text(NOW + 8 * S))
        (stop,) = changes.stop
        assert (stop.client_status, stop.followup_eval_id) == ("lost", follow_up.id)
        assert not changes.place

    def test_lost_work_is_replaced_when_it_is_surely_gone(self) -> None:
        job = a_job(a_group(count=1, disconnect=DisconnectStrategy(stop_on_client_after=3 * S)))
        states = (AllocStateChange(value="lost", time=time_text(NOW - 9 * S)),)
        changes = reconciled(job, [an_alloc(job, node="down", alloc_states=states)])
        assert len(changes.place) == 1


def test_a_rolling_first_version_is_deployed_at_once() -> None:
    job = a_job(a_group(count=4, update=ROLLING))
    changes = reconciled(job)
    assert len(changes.place) == 4
    assert changes.deployment is not None


def test_a_batch_job_has_no_deployment() -> None:
    job = a_job(a_group(count=4, update=ROLLING), kind=BATCH)
    assert reconciled(job).deployment is None


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("kind", ["service", BATCH])
@pytest.mark.parametrize("update", [None, ROLLING, replace(ROLLING, canary=1, auto_promote=True)])
def test_a_new_group_begins_as_a_pass_over_nothing_would(
    count: int, kind: str, update: UpdateStrategy | None
) -> None:
    job = a_job(a_group(count=count, update=update), kind=kind)
    begun = reconciled(job)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group, "begin_group", lambda new, by: group.GroupPass(new, [], by).run())
        assert begun == reconciled(job)
