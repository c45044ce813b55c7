"""Whether, and when, a task that ended is started again on its node."""

from __future__ import annotations

from random import Random

import msgspec

from yurt.model.durations import duration_text
from yurt.model.job import SERVICE, SYSTEM
from yurt.model.task_events import (
    RESTART_DELAYED,
    RESTART_UNRECOVERABLE,
    RESTART_WITHIN_POLICY,
    RESTARTS_FORBIDDEN,
)
from yurt.model.task_parts import RestartPolicy, TaskLifecycle
from yurt.model.wire import Nanoseconds

POSTSTOP = "poststop"
# Restarts of many instances that failed together are spread over this share of the delay.
JITTER = 0.25


class RestartWindow(msgspec.Struct, frozen=True):
    """How often the task was restarted since `start`; a task's first window starts when it arrives."""

    start: Nanoseconds
    count: int = 0


class Ended(msgspec.Struct, frozen=True, tag=True):
    """The task ran and ended; it `succeeded` with exit code 0, no signal and no driver error."""

    succeeded: bool


class StartFailed(msgspec.Struct, frozen=True, tag=True):
    """The task could not be started; a `recoverable` cause may go away by itself."""

    recoverable: bool


class Restart(msgspec.Struct, frozen=True, tag=True):
    """Start again after `delay`."""

    delay: Nanoseconds
    reason: str


class Complete(msgspec.Struct, frozen=True, tag=True):
    """The task did what it was meant to do."""


class GiveUp(msgspec.Struct, frozen=True, tag=True):
    """The task failed for good."""

    reason: str


def decide_restart(
    policy: RestartPolicy,
    window: RestartWindow,
    outcome: Ended | StartFailed,
    *,
    restarts_after_success: bool,
    now: Nanoseconds,
    rng: Random,
) -> tuple[RestartWindow, Restart | Complete | GiveUp]:
    """Say what becomes of a task that ended by itself, and the window to pass the next time.

    Tasks that were killed, and restarts that somebody asked for, are not the policy's business.
    """
    is_complete = isinstance(outcome, Ended) and outcome.succeeded and not restarts_after_success
    if policy.attempts == 0:
        return window, Complete() if is_complete else GiveUp(RESTARTS_FORBIDDEN)

    if now > window.start + policy.interval:
        window = RestartWindow(now)
    window = RestartWindow(window.start, window.count + 1)

    if isinstance(outcome, StartFailed) and not outcome.recoverable:
        return window, GiveUp(RESTART_UNRECOVERABLE)
    if is_complete:
        return window, Complete()
    if window.count > policy.attempts:
        if policy.mode == "delay":
            return window, Restart(window.start + policy.interval - now, RESTART_DELAYED)
        interval = duration_text(policy.interval)
        reason = f'Exceeded allowed attempts {policy.attempts} in interval {interval} and mode is "fail"'
        return window, GiveUp(reason)
    delay = policy.delay + int(policy.delay * rng.random() * JITTER)
    return window, Restart(delay, RESTART_WITHIN_POLICY)


def restarts_after_success(job_type: str, lifecycle: TaskLifecycle | None) -> bool:
    """Whether a task is meant to run for ever, so that even a successful exit calls for a restart."""
    if lifecycle is None or not lifecycle.hook:
        return job_type in (SERVICE, SYSTEM)
    return lifecycle.hook != POSTSTOP and lifecycle.sidecar
