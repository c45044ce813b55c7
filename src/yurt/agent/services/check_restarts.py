"""When a failing check restarts its task."""

from __future__ import annotations

import msgspec

from yurt.agent.services.checks import SUCCESS
from yurt.model.service import ServiceCheck
from yurt.model.wire import Nanoseconds


class RestartTimer(msgspec.Struct, frozen=True):
    """Until `grace_until` nothing counts; from `failing_since` on, the check did not pass any more."""

    grace_until: Nanoseconds
    failing_since: Nanoseconds | None = None


def first_timer(check: ServiceCheck, now: Nanoseconds) -> RestartTimer:
    """The timer of a check whose task begins."""
    restart = check.check_restart
    return RestartTimer(now + (restart.grace if restart else 0))


def restarts(check: ServiceCheck) -> bool:
    """Whether a check restarts its task at all."""
    return check.check_restart is not None and check.check_restart.limit > 0


def judge(
    check: ServiceCheck, timer: RestartTimer, status: str, *, now: Nanoseconds
) -> tuple[RestartTimer, bool]:
    """Look at a check's status; says what to pass the next time, and whether to restart now.

    The time is counted rather than the results: a check that fails `limit` times in a row takes
    `limit - 1` intervals for it.
    """
    restart = check.check_restart
    assert restart is not None
    if now < timer.grace_until:
        return timer, False
    if status == SUCCESS:
        return RestartTimer(timer.grace_until), False
    failing_since = timer.failing_since if timer.failing_since is not None else now
    if now < failing_since + check.interval * (restart.limit - 1):
        return RestartTimer(timer.grace_until, failing_since), False
    return RestartTimer(now + restart.grace), True
