"""Tasks are restarted as often, and as late, as their policy says."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yurt.agent.restarts import (
    Complete,
    Ended,
    GiveUp,
    Restart,
    RestartWindow,
    StartFailed,
    decide_restart,
    restarts_after_success,
)
from yurt.model.task_parts import RestartPolicy, TaskLifecycle
from yurt.model.times import SECOND_NS

POLICY = RestartPolicy(attempts=2, interval=60 * SECOND_NS, delay=2 * SECOND_NS, mode="fail")
NEVER = RestartPolicy(attempts=0)
OK, FAILED = Ended(succeeded=True), Ended(succeeded=False)
FATAL, TRANSIENT = StartFailed(recoverable=False), StartFailed(recoverable=True)

EXCEEDED = GiveUp('Exceeded allowed attempts 2 in interval 1m0s and mode is "fail"')


@pytest.mark.parametrize(
    ("policy", "count", "outcome", "runs_for_ever", "decision"),
    [
        pytest.param(NEVER, 0, OK, False, Complete(), id="no restarts, done"),
        pytest.param(NEVER, 0, OK, True, GiveUp("Policy allows no restarts"), id="service ended"),
        pytest.param(NEVER, 0, FAILED, False, GiveUp("Policy allows no restarts"), id="no restarts"),
        pytest.param(NEVER, 0, FATAL, False, GiveUp("Policy allows no restarts"), id="policy before cause"),
        pytest.param(POLICY, 0, FATAL, False, GiveUp("Error was unrecoverable"), id="unrecoverable start"),
        pytest.param(POLICY, 2, OK, False, Complete(), id="done after restarts"),
        pytest.param(POLICY, 2, FAILED, False, EXCEEDED, id="attempts used up"),
        pytest.param(POLICY, 2, OK, True, EXCEEDED, id="success of a service uses attempts"),
        pytest.param(POLICY, 2, TRANSIENT, False, EXCEEDED, id="start attempts used up"),
    ],
)
def test_final_decisions(
    policy: RestartPolicy,
    count: int,
    outcome: Ended | StartFailed,
    runs_for_ever: bool,
    decision: Complete | GiveUp,
) -> None:
    _, decided = decide_restart(
        policy,
        RestartWindow(0, count),
        outcome,
        restarts_after_success=runs_for_ever,
        now=SECOND_NS,
        rng=Random(1),
    )

    assert decided == decision


@given(seed=st.integers(), outcome=st.sampled_from([FAILED, TRANSIENT]))
def test_a_restart_waits_for_the_delay_and_up_to_a_quarter_more(
    seed: int, outcome: Ended | StartFailed
) -> None:
    window, decided = decide_restart(
        POLICY,
        RestartWindow(0),
        outcome,
        restarts_after_success=False,
        now=SECOND_NS,
        rng=Random(seed),
    )

    assert window == RestartWindow(0, 1)
    assert isinstance(decided, Restart)
    assert decided.reason == "Restart within policy"
    assert POLICY.delay <= decided.delay < POLICY.delay * 1.25


def test_mode_delay_waits_for_the_rest_of_the_window_then_counts_anew() -> None:
    policy = RestartPolicy(attempts=1, interval=8 * SECOND_NS, delay=SECOND_NS, mode="delay")

    def decide(window: RestartWindow, now: int) -> tuple[RestartWindow, object]:
        return decide_restart(policy, window, FAILED, restarts_after_success=True, now=now, rng=Random(1))

    window, decided = decide(RestartWindow(0, 1), 3 * SECOND_NS)
    assert decided == Restart(5 * SECOND_NS, "Exceeded allowed attempts, applying a delay")

    window, decided = decide(window, 8 * SECOND_NS + 1)
    assert window == RestartWindow(8 * SECOND_NS + 1, 1)
    assert isinstance(decided, Restart)
    assert decided.reason == "Restart within policy"


def test_an_exit_at_the_very_end_of_the_window_still_counts_in_it() -> None:
    window, _ = decide_restart(
        POLICY,
        RestartWindow(0, 1),
        FAILED,
        restarts_after_success=False,
        now=POLICY.interval,
        rng=Random(1),
    )

    assert window == RestartWindow(0, 2)


@pytest.mark.parametrize(
    ("job_type", "lifecycle", "expected"),
    [
        ("service", None, True),
        ("system", None, True),
        ("batch", None, False),
        ("sysbatch", None, False),
        ("service", TaskLifecycle(hook="prestart"), False),
        ("batch", TaskLifecycle(hook="prestart", sidecar=True), True),
        ("batch", TaskLifecycle(hook="poststart", sidecar=True), True),
        ("service", TaskLifecycle(hook="poststart"), False),
        ("service", TaskLifecycle(hook="poststop"), False),
    ],
)
def test_which_tasks_run_for_ever(job_type: str, lifecycle: TaskLifecycle | None, expected: bool) -> None:
    assert restarts_after_success(job_type, lifecycle) is expected
