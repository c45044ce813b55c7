"""What became of tasks, in the words of the simple dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yurt.model.task_events import TERMINATED, display_message
from yurt.model.task_state import TASK_DEAD, TaskState
from yurt.model.times import SECOND_NS, time_ns
from yurt.model.wire import Nanoseconds, Time

PENDING, RUNNING, COMPLETE, FAILED, LOST = "pending", "running", "complete", "failed", "lost"
STOPPED = "stopped"


def task_facts(state: TaskState, *, is_lost: bool = False) -> dict[str, Any]:
    """What became of a task."""
    status = state.state
    if status == TASK_DEAD:
        status = FAILED if state.failed else COMPLETE
    elif is_lost:
        status = LOST
    events = state.events or ()
    code = next((event.exit_code for event in reversed(events) if event.type == TERMINATED), None)
    return {
        "status": status,
        "start_time": _time_s(state.started_at),
        "end_time": _time_s(state.finished_at),
        "exit_code": code,
        "message": display_message(events[-1]) or events[-1].message if events else "",
    }


def life_times(states: Mapping[str, TaskState], *, over_at: Nanoseconds | None) -> dict[str, float | None]:
    """When an allocation began and ended; `over_at` is None while it goes on, and stands in for its end."""
    started = [time_ns(state.started_at) for state in states.values() if state.started_at]
    finished = [time_ns(state.finished_at) for state in states.values() if state.finished_at]
    ended = max(finished, default=over_at) if over_at is not None else 0
    return {"start_time": seconds(min(started, default=0)), "end_time": seconds(ended)}


def seconds(at: Nanoseconds) -> float | None:
    """Unix seconds, or None for no time."""
    return at / SECOND_NS if at > 0 else None


def _time_s(text: Time) -> float | None:
    return seconds(time_ns(text)) if text else None
