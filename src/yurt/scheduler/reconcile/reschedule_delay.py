"""When a failed allocation may be placed anew."""

from __future__ import annotations

from typing import NamedTuple

from yurt.model.alloc import (
    CLIENT_FAILED,
    CLIENT_LOST,
    DESIRED_STOP,
    Allocation,
    RescheduleEvent,
    RescheduleTracker,
)
from yurt.model.job import BATCH
from yurt.model.policies import ReschedulePolicy
from yurt.model.wire import Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import (
    RESCHEDULE_OK,
    last_event_time,
    reschedule_failed,
    reschedule_policy,
    transition,
)

CONSTANT = "constant"
EXPONENTIAL = "exponential"
FIBONACCI = "fibonacci"

# An unlimited policy would let the list grow for ever.
PAST_EVENTS_KEPT_MAX = 5


class RescheduleTime(NamedTuple):
    """When an allocation may be placed anew, and whether it may at all."""

    at: Nanoseconds
    eligible: bool


_NEVER = RescheduleTime(0, eligible=False)


def is_enabled(policy: ReschedulePolicy | None) -> bool:
    """Whether a policy ever places anything anew."""
    return policy is not None and (policy.unlimited or policy.attempts > 0)


def next_delay(alloc: Allocation) -> Nanoseconds:
    """How long to wait before an allocation is placed anew, by the policy of its own job version."""
    policy = reschedule_policy(alloc)
    if policy is None:
        return 0
    events = _events(alloc)
    if not events or policy.delay_function not in (EXPONENTIAL, FIBONACCI):
        return policy.delay
    delay = events[-1].delay * 2 if policy.delay_function == EXPONENTIAL else _fibonacci(policy, events)
    if 0 < policy.max_delay < delay:
        # It ran well for longer than the longest delay: what failed now has nothing to do with then.
        recovered = last_event_time(alloc) - events[-1].reschedule_time > policy.max_delay
        return policy.delay if recovered else policy.max_delay
    return delay


def reschedule_time(alloc: Allocation) -> RescheduleTime:
    """When a failed or lost allocation may be placed anew."""
    policy = reschedule_policy(alloc)
    if not is_enabled(policy) or (alloc.desired_status == DESIRED_STOP and not reschedule_failed(alloc)):
        return _NEVER
    asked_for = alloc.job.type == BATCH and transition(alloc).reschedule
    if alloc.client_status not in (CLIENT_FAILED, CLIENT_LOST) and not asked_for:
        return _NEVER
    return reschedule_time_after(alloc, last_event_time(alloc))


def reschedule_time_after(alloc: Allocation, failed_at: Nanoseconds) -> RescheduleTime:
    """When an allocation that failed at a known time may be placed anew."""
    policy = reschedule_policy(alloc)
    if policy is None or not is_enabled(policy):
        return _NEVER
    delay = next_delay(alloc)
    eligible = policy.unlimited or (
        alloc.reschedule_tracker is None
        or (_attempted(alloc, policy, failed_at) < policy.attempts and delay < policy.interval)
    )
    return RescheduleTime(failed_at + delay, eligible=eligible)


def may_reschedule(alloc: Allocation, policy: ReschedulePolicy | None, failed_at: Nanoseconds) -> bool:
    """Whether a policy has tries left for an allocation that failed; the servers' quick look."""
    if policy is None or not is_enabled(policy):
        return False
    return policy.unlimited or not _events(alloc) or _attempted(alloc, policy, failed_at) < policy.attempts


def replacement_tracker(previous: Allocation, now: Nanoseconds) -> RescheduleTracker:
    """The tracker of an allocation that replaces a failed one."""
    policy = reschedule_policy(previous)
    events = _events(previous)
    if policy is not None and policy.attempts > 0:
        events = tuple(event for event in events if now - event.reschedule_time <= policy.interval)
    else:
        events = events[-PAST_EVENTS_KEPT_MAX:]
    event = RescheduleEvent(
        reschedule_time=now,
        prev_alloc_id=previous.id,
        prev_node_id=previous.node_id,
        delay=next_delay(previous),
    )
    return RescheduleTracker(events=(*events, event), last_reschedule=RESCHEDULE_OK)


def _events(alloc: Allocation) -> tuple[RescheduleEvent, ...]:
    return (alloc.reschedule_tracker.events or ()) if alloc.reschedule_tracker is not None else ()


def _attempted(alloc: Allocation, policy: ReschedulePolicy, failed_at: Nanoseconds) -> int:
    return sum(failed_at - event.reschedule_time < policy.interval for event in _events(alloc))


def _fibonacci(policy: ReschedulePolicy, events: tuple[RescheduleEvent, ...]) -> Nanoseconds:
    if len(events) < 2:
        return policy.delay
    before, last = events[-2].delay, events[-1].delay
    if before == policy.max_delay and last == policy.delay:
        return last  # the series began again
    return before + last
