"""Which allocations are placed anew, now or later."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_UNKNOWN,
    DESIRED_EVICT,
    DESIRED_RUN,
    DESIRED_STOP,
    Allocation,
)
from yurt.model.deployment import Deployment
from yurt.model.times import SECOND_NS
from yurt.model.wire import EvalID, Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import (
    is_part_of,
    last_unknown_time,
    ran_successfully,
    replaces_on_disconnect,
    reschedule_failed,
    transition,
)
from yurt.scheduler.reconcile.follow_ups import Delayed
from yurt.scheduler.reconcile.reschedule_delay import RescheduleTime, reschedule_time, reschedule_time_after

# What is due within this time is done at once.
RESCHEDULE_WINDOW_NS = SECOND_NS


class Rescheduling(msgspec.Struct, frozen=True, kw_only=True):
    """What to judge allocations by."""

    is_batch: bool
    eval_id: EvalID
    now: Nanoseconds
    deployment: Deployment | None  # the current one


class Filtered(msgspec.Struct, frozen=True, kw_only=True):
    """Allocations that stay, are placed anew now, or later. Those for later also stay."""

    untainted: list[Allocation]
    now: list[Allocation]
    later: list[Delayed]


def filter_for_rescheduling(
    allocs: Iterable[Allocation], by: Rescheduling, *, disconnecting: bool = False
) -> Filtered:
    """Sort allocations by whether they are placed anew; what needs no more thought is dropped."""
    filtered = Filtered(untainted=[], now=[], later=[])
    for alloc in allocs:
        # Most allocations of most jobs run, and nothing asks for more.
        if not disconnecting and _just_runs(alloc):
            filtered.untainted.append(alloc)
            continue
        if disconnecting and alloc.client_status == CLIENT_UNKNOWN:
            continue
        if alloc.next_allocation and alloc.is_terminal:
            continue
        fate = _fate_of_batch(alloc) if by.is_batch else _fate_of_service(alloc)
        if fate == _KEEP and not disconnecting:
            filtered.untainted.append(alloc)
        elif fate != _DROP:
            _judge(alloc, by, filtered, disconnecting=disconnecting)
    return filtered


_KEEP, _CONSIDER, _DROP = "keep", "consider", "drop"


def _just_runs(alloc: Allocation) -> bool:
    return (
        not alloc.is_terminal and alloc.client_status != CLIENT_UNKNOWN and alloc.desired_transition is None
    )


def _fate_of_batch(alloc: Allocation) -> str:
    flags = transition(alloc)
    if flags.migrate_disable_placement:
        return _KEEP
    if flags.reschedule:
        return _CONSIDER
    if alloc.desired_status == DESIRED_STOP:
        if ran_successfully(alloc):
            return _KEEP
        return _CONSIDER if reschedule_failed(alloc) else _DROP
    if alloc.desired_status == DESIRED_EVICT:
        return _DROP
    return _CONSIDER if alloc.client_status == CLIENT_FAILED else _KEEP


def _fate_of_service(alloc: Allocation) -> str:
    if alloc.desired_status != DESIRED_RUN:
        return _CONSIDER if reschedule_failed(alloc) else _DROP
    return _DROP if alloc.client_status in (CLIENT_COMPLETE, CLIENT_LOST) else _CONSIDER


def _judge(alloc: Allocation, by: Rescheduling, into: Filtered, *, disconnecting: bool) -> None:
    is_now, at = _when(alloc, by, disconnecting=disconnecting)
    if is_now:
        into.now.append(alloc)
        return
    into.untainted.append(alloc)
    if at is not None:
        into.later.append(Delayed(alloc, at))


def _when(alloc: Allocation, by: Rescheduling, *, disconnecting: bool) -> tuple[bool, Nanoseconds | None]:
    """Whether an allocation is placed anew now, else at what time, if ever."""
    flags = transition(alloc)
    deployment = by.deployment if by.deployment is not None and by.deployment.is_active else None
    if is_part_of(alloc, deployment) and not flags.reschedule:
        return False, None  # whoever watches the deployment decides
    is_now = bool(flags.force_reschedule) and alloc.is_client_terminal
    if disconnecting and not replaces_on_disconnect(alloc):
        return is_now, None
    at, eligible = _time_of(alloc, by, disconnecting=disconnecting)
    if not eligible:
        return is_now, None
    if alloc.followup_eval_id == by.eval_id or at - by.now <= RESCHEDULE_WINDOW_NS:
        return True, None
    return is_now, at if not alloc.followup_eval_id and not is_now else None


def _time_of(alloc: Allocation, by: Rescheduling, *, disconnecting: bool) -> RescheduleTime:
    if disconnecting:
        return reschedule_time_after(alloc, by.now)
    if alloc.client_status == CLIENT_UNKNOWN and alloc.followup_eval_id == by.eval_id:
        # Another pass over the same evaluation must not replace it again.
        if alloc.next_allocation:
            return RescheduleTime(0, eligible=False)
        return reschedule_time_after(alloc, last_unknown_time(alloc))
    return reschedule_time(alloc)
