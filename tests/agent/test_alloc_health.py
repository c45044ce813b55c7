"""Deployments learn when an allocation is up, and at once when it cannot be."""

from __future__ import annotations

import msgspec
import pytest

from tests.agent.builders import a_job, an_alloc
from yurt.agent.alloc_runner.health import (
    HealthRules,
    Healthy,
    Undecided,
    Unhealthy,
    health_rules,
    judge_health,
    unhealthy_reasons,
)
from yurt.agent.alloc_runner.lifecycle import Role
from yurt.model.policies import MigrateStrategy, UpdateStrategy
from yurt.model.task_state import TASK_DEAD, TASK_PENDING, TASK_RUNNING, TaskState
from yurt.model.times import MINUTE_NS, SECOND_NS, time_text

RULES = HealthRules(min_healthy_time=10 * SECOND_NS, healthy_deadline=5 * MINUTE_NS, uses_checks=False)
START = 1_000 * SECOND_NS
DEADLINE = START + RULES.healthy_deadline
UP = TaskState(state=TASK_RUNNING, started_at=time_text(START))
DONE = TaskState(state=TASK_DEAD, started_at=time_text(START))
FAILED = TaskState(state=TASK_DEAD, failed=True)
PENDING = TaskState(state=TASK_PENDING)


@pytest.mark.parametrize(
    ("tasks", "elapsed_s", "verdict"),
    [
        pytest.param([(Role.MAIN, UP)], 9, Undecided(START + 10 * SECOND_NS), id="not long enough"),
        pytest.param([(Role.MAIN, UP)], 10, Healthy(), id="long enough"),
        pytest.param([(Role.MAIN, PENDING)], 9, Undecided(DEADLINE), id="not up yet"),
        pytest.param([(Role.MAIN, PENDING)], 300, Unhealthy(), id="deadline"),
        pytest.param([(Role.MAIN, FAILED), (Role.MAIN, UP)], 1, Unhealthy(), id="failed"),
        pytest.param([(Role.MAIN, DONE)], 1, Unhealthy(), id="ended"),
        pytest.param([(Role.MAIN, UP), (Role.PRESTART, DONE)], 10, Healthy(), id="prestart ended"),
        pytest.param([(Role.MAIN, UP), (Role.POSTSTART, DONE)], 10, Healthy(), id="poststart ended"),
        pytest.param([(Role.MAIN, UP), (Role.PRESTART_SIDECAR, DONE)], 10, Unhealthy(), id="sidecar"),
        pytest.param([(Role.MAIN, UP), (Role.POSTSTOP, PENDING)], 10, Healthy(), id="poststop"),
    ],
)
def test_verdicts(tasks: list[tuple[Role, TaskState]], elapsed_s: int, verdict: object) -> None:
    roles = {str(number): role for number, (role, _) in enumerate(tasks)}
    states = {str(number): state for number, (_, state) in enumerate(tasks)}
    now = START + elapsed_s * SECOND_NS

    assert judge_health(RULES, roles, states, checks_passing_since=0, watched_since=START, now=now) == verdict


def test_a_restart_counts_from_its_own_start() -> None:
    restarted = TaskState(state=TASK_RUNNING, started_at=time_text(START + 8 * SECOND_NS))
    verdict = judge_health(
        RULES,
        {"t": Role.MAIN},
        {"t": restarted},
        checks_passing_since=0,
        watched_since=START,
        now=START + 12 * SECOND_NS,
    )

    assert verdict == Undecided(START + 18 * SECOND_NS)


WITH_CHECKS = msgspec.structs.replace(RULES, uses_checks=True)


@pytest.mark.parametrize(
    ("rules", "passing_since_s", "elapsed_s", "verdict"),
    [
        pytest.param(WITH_CHECKS, None, 20, Undecided(DEADLINE), id="failing checks"),
        pytest.param(WITH_CHECKS, None, 300, Unhealthy(), id="failing checks until the deadline"),
        pytest.param(WITH_CHECKS, 5, 14, Undecided(START + 15 * SECOND_NS), id="passing, not for long"),
        pytest.param(WITH_CHECKS, 5, 15, Healthy(), id="passing for long enough"),
        pytest.param(RULES, None, 10, Healthy(), id="checks do not count"),
    ],
)
def test_checks_count(
    rules: HealthRules, passing_since_s: int | None, elapsed_s: int, verdict: object
) -> None:
    since = None if passing_since_s is None else START + passing_since_s * SECOND_NS
    found = judge_health(
        rules,
        {"t": Role.MAIN},
        {"t": UP},
        checks_passing_since=since,
        watched_since=START,
        now=START + elapsed_s * SECOND_NS,
    )

    assert found == verdict


def test_failing_checks_are_the_reason_only_for_tasks_that_did_their_part() -> None:
    found = unhealthy_reasons(
        WITH_CHECKS,
        {"up": Role.MAIN, "pending": Role.MAIN},
        {"up": UP, "pending": PENDING},
        are_checks_passing=False,
        now=START + 300 * SECOND_NS,
    )

    assert found == {
        "up": "Services not healthy by deadline",
        "pending": "Task not running by healthy_deadline of 5m0s",
    }


def test_reasons_are_given_for_each_task() -> None:
    roles = {
        "failed": Role.MAIN,
        "ended": Role.MAIN,
        "pending": Role.MAIN,
        "short": Role.MAIN,
        "pre": Role.PRESTART,
        "stop": Role.POSTSTOP,
    }
    states = {
        "failed": FAILED,
        "ended": DONE,
        "pending": PENDING,
        "short": UP,
        "pre": DONE,
        "stop": PENDING,
    }

    reasons = unhealthy_reasons(RULES, roles, states, are_checks_passing=True, now=START + 9 * SECOND_NS)

    assert reasons == {
        "failed": "Unhealthy because of failed task",
        "ended": "Unhealthy because of dead task",
        "pending": "Task not running by healthy_deadline of 5m0s",
        "short": "Task not running for min_healthy_time of 10s by healthy_deadline of 5m0s",
    }


UPDATE = UpdateStrategy(max_parallel=1, health_check="checks", min_healthy_time=1, healthy_deadline=2)


@pytest.mark.parametrize(
    ("job_type", "deployment", "group", "rules"),
    [
        pytest.param("batch", "d", {"update": UPDATE}, None, id="batch"),
        pytest.param(
            "service",
            "d",
            {"update": UPDATE},
            HealthRules(min_healthy_time=1, healthy_deadline=2, uses_checks=True),
            id="deployment",
        ),
        pytest.param(
            "service",
            "d",
            {"update": msgspec.structs.replace(UPDATE, health_check="manual")},
            None,
            id="people decide",
        ),
        pytest.param(
            "service",
            "d",
            {"update": msgspec.structs.replace(UPDATE, max_parallel=0)},
            None,
            id="no rolling update",
        ),
        pytest.param(
            "service",
            "",
            {"migrate": MigrateStrategy(health_check="task_states", min_healthy_time=3)},
            HealthRules(min_healthy_time=3, healthy_deadline=0, uses_checks=False),
            id="for drains",
        ),
        pytest.param(
            "system",
            "",
            {},
            HealthRules(min_healthy_time=10 * SECOND_NS, healthy_deadline=5 * MINUTE_NS, uses_checks=True),
            id="for drains, by default",
        ),
    ],
)
def test_rules(job_type: str, deployment: str, group: dict[str, object], rules: HealthRules | None) -> None:
    job = a_job(type=job_type, group=group)
    alloc = an_alloc(job, deployment_id=deployment)

    assert health_rules(alloc, job.task_groups[0]) == rules
