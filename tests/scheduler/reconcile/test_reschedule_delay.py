"""Failed allocations wait longer from time to time, by their policy."""

from __future__ import annotations

import pytest

from tests.scheduler.reconcile.builders import NOW, a_group, a_job, an_alloc
from yurt.model.alloc import RescheduleEvent, RescheduleTracker
from yurt.model.policies import ReschedulePolicy
from yurt.model.times import HOUR_NS, MINUTE_NS, SECOND_NS
from yurt.scheduler.reconcile.reschedule_delay import (
    PAST_EVENTS_KEPT_MAX,
    may_reschedule,
    next_delay,
    replacement_tracker,
    reschedule_time,
)

S, M = SECOND_NS, MINUTE_NS


def policy(function: str, max_delay: int = 90 * S, attempts: int = 0) -> ReschedulePolicy:
    return ReschedulePolicy(
        delay=5 * S,
        delay_function=function,
        max_delay=max_delay,
        attempts=attempts,
        interval=10 * M if attempts else 0,
        unlimited=not attempts,
    )


def events(delays: list[int], last: int, step: int = M) -> tuple[RescheduleEvent, ...]:
    """One event for each delay, the last `last` ago, `step` apart."""
    total = len(delays)
    return tuple(
        RescheduleEvent(delay=delay * S, reschedule_time=NOW - last - (total - 1 - i) * step)
        for i, delay in enumerate(delays)
    )


@pytest.mark.parametrize(
    ("by", "past", "last", "failed_ago", "delay", "eligible"),
    [
        pytest.param(policy("constant"), [], 0, 2 * S, 5, True, id="constant, first"),
        pytest.param(policy("constant", attempts=2), [5], 2 * M, 2 * S, 5, True, id="constant, one of two"),
        pytest.param(policy("constant", attempts=2), [5, 5], 2 * M, 2 * S, 5, False, id="constant, used up"),
        pytest.param(policy("exponential"), [], 0, 2 * S, 5, True, id="exponential, first"),
        pytest.param(policy("exponential"), [5, 10, 20], M, 2 * S, 40, True, id="exponential"),
        pytest.param(
            policy("exponential"), [5, 10, 20, 40, 80], 40 * S, 15 * S, 90, True, id="exponential, capped"
        ),
        pytest.param(
            policy("exponential"), [80, 90, 90], HOUR_NS, 15 * M, 5, True, id="exponential, ran well for long"
        ),
        pytest.param(policy("fibonacci"), [5], M, 2 * S, 5, True, id="fibonacci, second"),
        pytest.param(policy("fibonacci"), [5, 5], M, 2 * S, 10, True, id="fibonacci"),
        pytest.param(policy("fibonacci"), [5, 5, 10, 15, 25], M, 2 * S, 40, True, id="fibonacci, later"),
        pytest.param(
            policy("fibonacci", 50 * S),
            [5, 5, 10, 15, 25, 40],
            40 * S,
            15 * S,
            50,
            True,
            id="fibonacci, capped",
        ),
        pytest.param(
            policy("fibonacci", 50 * S),
            [5, 5, 10, 15, 25, 40],
            HOUR_NS,
            5 * M,
            5,
            True,
            id="fibonacci, reset",
        ),
        pytest.param(
            policy("fibonacci", 50 * S), [25, 40, 50, 5], M, 2 * S, 5, True, id="fibonacci, began again"
        ),
    ],
)
def test_delay_and_verdict(
    by: ReschedulePolicy, past: list[int], last: int, failed_ago: int, delay: int, eligible: bool
) -> None:
    tracker = RescheduleTracker(events=events(past, last)) if past else None
    failed_at = NOW - failed_ago
    alloc = an_alloc(
        a_job(a_group(reschedule_policy=by)),
        status="failed",
        finished_at=failed_at,
        reschedule_tracker=tracker,
    )
    assert next_delay(alloc) == delay * S
    assert reschedule_time(alloc) == (failed_at + delay * S, eligible)
    assert may_reschedule(alloc, by, failed_at) is eligible


@pytest.mark.parametrize(
    ("alloc_policy", "status"),
    [
        pytest.param(None, "failed", id="no policy"),
        pytest.param(ReschedulePolicy(delay=5 * S), "failed", id="no attempts"),
        pytest.param(policy("constant"), "running", id="still running"),
        pytest.param(policy("constant"), "complete", id="ended well"),
    ],
)
def test_never_eligible(alloc_policy: ReschedulePolicy | None, status: str) -> None:
    alloc = an_alloc(a_job(a_group(reschedule_policy=alloc_policy)), status=status)
    assert not reschedule_time(alloc).eligible


def test_limited_policy_forgets_events_outside_its_interval() -> None:
    tracker = RescheduleTracker(events=events([5, 5, 5], last=M, step=6 * M))
    job = a_job(a_group(reschedule_policy=policy("constant", attempts=2)))
    renewed = replacement_tracker(an_alloc(job, status="failed", reschedule_tracker=tracker), NOW)
    assert [event.delay for event in renewed.events or ()] == [5 * S, 5 * S, 5 * S]
    assert (renewed.events or ())[-1].reschedule_time == NOW
    assert renewed.last_reschedule == "ok"


def test_unlimited_policy_remembers_only_the_last_events() -> None:
    tracker = RescheduleTracker(events=events([5] * 9, last=M))
    job = a_job(a_group(reschedule_policy=policy("constant")))
    renewed = replacement_tracker(an_alloc(job, status="failed", reschedule_tracker=tracker), NOW)
    assert len(renewed.events or ()) == PAST_EVENTS_KEPT_MAX + 1
