"""The status of an allocation, told from the states of its tasks."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from yurt.model.alloc import CLIENT_COMPLETE, CLIENT_FAILED, CLIENT_PENDING, CLIENT_RUNNING
from yurt.model.task_state import TASK_DEAD, TASK_PENDING, TASK_RUNNING, TaskState
from yurt.model.times import time_text
from yurt.model.wire import Nanoseconds

TERMINAL = frozenset((CLIENT_COMPLETE, CLIENT_FAILED))


class ClientStatus(msgspec.Struct, frozen=True):
    """A client status and the phrase that goes with it."""

    status: str
    description: str


FAILED = ClientStatus(CLIENT_FAILED, "Failed tasks")
RUNNING = ClientStatus(CLIENT_RUNNING, "Tasks are running")
PENDING = ClientStatus(CLIENT_PENDING, "No tasks have started")
COMPLETE = ClientStatus(CLIENT_COMPLETE, "All tasks have completed")


def client_status(states: Mapping[str, TaskState]) -> ClientStatus:
    """Derive the status; an allocation without tasks is pending."""
    if any(state.state == TASK_DEAD and state.failed for state in states.values()):
        return FAILED
    found = {state.state for state in states.values()}
    if TASK_RUNNING in found:
        return RUNNING
    if TASK_PENDING in found or not found:
        return PENDING
    return COMPLETE


def with_finish_times(states: Mapping[str, TaskState], now: Nanoseconds) -> dict[str, TaskState]:
    """Give every task of a terminal allocation a finish time: rescheduling counts from it."""
    return {
        name: state if state.finished_at else msgspec.structs.replace(state, finished_at=time_text(now))
        for name, state in states.items()
    }
