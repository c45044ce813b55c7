"""Reconnecting: a silent node is back, and its allocations may have been replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from yurt.model.alloc import CLIENT_FAILED, CLIENT_RUNNING, DESIRED_RUN, Allocation
from yurt.model.job import Job
from yurt.model.task_state import TaskState
from yurt.model.times import time_ns
from yurt.model.wire import AllocID, Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import (
    best_score,
    disconnect_strategy,
    group_of,
    is_older_than,
    task_states,
    transition,
)

BEST_SCORE = "best_score"
LONGEST_RUNNING = "longest_running"
KEEP_ORIGINAL = "keep_original"
KEEP_REPLACEMENT = "keep_replacement"


class Reconnected(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of allocations that are back, and of what replaced them.

    `failed` ended while nobody could hear of it. `survivors` go on; `losers` are originals that are
    not needed, `stopped_replacements` are replacements that are not.
    """

    survivors: list[Allocation]
    failed: list[Allocation]
    losers: list[Allocation]
    stopped_replacements: list[Allocation]


def reconcile_reconnecting(
    reconnecting: Iterable[Allocation], all_allocs: Mapping[AllocID, Allocation], job: Job
) -> Reconnected:
    """Choose between allocations that are back and their replacements."""
    result = Reconnected(survivors=[], failed=[], losers=[], stopped_replacements=[])
    stopped: dict[AllocID, Allocation] = {}
    for alloc in reconnecting:
        if alloc.client_status == CLIENT_FAILED and not alloc.is_server_terminal:
            result.failed.append(alloc)
        elif _must_stop(alloc, job):
            result.losers.append(alloc)
        else:
            original_lost = False
            for replacement in _replacements(alloc, all_allocs):
                if replacement.is_server_terminal:
                    continue
                if _keeps_replacement(alloc, replacement):
                    original_lost = True
                else:
                    stopped[replacement.id] = replacement
            (result.losers if original_lost else result.survivors).append(alloc)
    result.stopped_replacements.extend(stopped.values())
    return result


def _must_stop(alloc: Allocation, job: Job) -> bool:
    flags = transition(alloc)
    return (
        alloc.desired_status != DESIRED_RUN
        or bool(flags.migrate or flags.reschedule or flags.force_reschedule)
        or is_older_than(alloc, job)
    )


def _replacements(alloc: Allocation, all_allocs: Mapping[AllocID, Allocation]) -> Iterator[Allocation]:
    """What replaced an allocation, and what replaced that, and so on."""
    seen = {alloc.id}
    following = all_allocs.get(AllocID(alloc.next_allocation))
    while following is not None and following.id not in seen:
        seen.add(following.id)
        yield following
        following = all_allocs.get(AllocID(following.next_allocation))


def _keeps_replacement(original: Allocation, replacement: Allocation) -> bool:
    if is_older_than(original, replacement.job):
        return True
    strategy = disconnect_strategy(original)
    match strategy.reconcile if strategy is not None else BEST_SCORE:
        case option if option == KEEP_ORIGINAL:
            return False
        case option if option == KEEP_REPLACEMENT:
            return True
        case option if option == LONGEST_RUNNING:
            return _replacement_ran_longer(original, replacement)
    return _replacement_scores_better(original, replacement)


def _replacement_scores_better(original: Allocation, replacement: Allocation) -> bool:
    theirs, ours = best_score(replacement), best_score(original)
    if theirs is None or (ours is not None and theirs <= ours):
        return False
    return replacement.client_status == CLIENT_RUNNING or original.client_status != CLIENT_RUNNING


def _replacement_ran_longer(original: Allocation, replacement: Allocation) -> bool:
    ours, theirs = _started(original), _started(replacement)
    if not ours and not theirs:
        return _replacement_scores_better(original, replacement)
    if not ours or not theirs:
        return not ours
    return ours >= theirs


def _started(alloc: Allocation) -> Nanoseconds:
    """When its leader last started, else its first task to start; 0 if none has."""
    states = task_states(alloc)
    group = group_of(alloc)
    leader = next((task.name for task in group.tasks if task.leader), None) if group is not None else None
    if leader is not None and leader in states and (start := _last_start(states[leader])):
        return start
    return min((start for state in states.values() if (start := _last_start(state))), default=0)


def _last_start(state: TaskState) -> Nanoseconds:
    return time_ns(state.last_restart if state.restarts else state.started_at)
