"""How a task's state changes."""

from __future__ import annotations

import msgspec

from yurt.model.task_events import RESTARTING
from yurt.model.task_state import (
    TASK_DEAD,
    TASK_EVENTS_MAX,
    TASK_PENDING,
    TASK_RUNNING,
    TaskEvent,
    TaskState,
)
from yurt.model.times import time_text
from yurt.model.wire import Nanoseconds

replace = msgspec.structs.replace


def with_event(state: TaskState, event: TaskEvent) -> TaskState:
    """Add an event, dropping the oldest beyond the limit; it may fail the task or count a restart."""
    state = replace(
        state,
        events=((state.events or ()) + (event,))[-TASK_EVENTS_MAX:],
        failed=state.failed or event.fails_task,
    )
    if event.type == RESTARTING:
        state = replace(state, restarts=state.restarts + 1, last_restart=time_text(event.time))
    return state


def as_running(state: TaskState, now: Nanoseconds) -> TaskState:
    """The task was started."""
    return replace(state, state=TASK_RUNNING, started_at=time_text(now))


def as_pending(state: TaskState) -> TaskState:
    """The task is to be started, once more perhaps."""
    return replace(state, state=TASK_PENDING)


def as_dead(state: TaskState, now: Nanoseconds) -> TaskState:
    """The task will not run again by itself."""
    if state.state == TASK_DEAD:
        return state
    return replace(state, state=TASK_DEAD, finished_at=time_text(now))


def as_revived(state: TaskState) -> TaskState:
    """The whole allocation is being restarted, and with it a task that had ended."""
    return replace(state, state=TASK_PENDING, failed=False, finished_at=None)
