"""An allocation's status follows from its tasks."""

from __future__ import annotations

import pytest

from yurt.agent.client_status import client_status, with_finish_times
from yurt.model.task_state import TASK_DEAD, TASK_PENDING, TASK_RUNNING, TaskState

DEAD = TaskState(state=TASK_DEAD)
FAILED = TaskState(state=TASK_DEAD, failed=True)
RUNNING = TaskState(state=TASK_RUNNING)
PENDING = TaskState(state=TASK_PENDING)


@pytest.mark.parametrize(
    ("states", "status", "description"),
    [
        ([], "pending", "No tasks have started"),
        ([PENDING], "pending", "No tasks have started"),
        ([PENDING, RUNNING, DEAD], "running", "Tasks are running"),
        ([PENDING, DEAD], "pending", "No tasks have started"),
        ([DEAD, DEAD], "complete", "All tasks have completed"),
        ([RUNNING, FAILED], "failed", "Failed tasks"),
    ],
)
def test_status(states: list[TaskState], status: str, description: str) -> None:
    derived = client_status({str(number): state for number, state in enumerate(states)})

    assert (derived.status, derived.description) == (status, description)


def test_only_missing_finish_times_are_filled_in() -> None:
    done = TaskState(state=TASK_DEAD, finished_at="2026-01-01T00:00:00Z")
    states = with_finish_times({"done": done, "never-ran": PENDING}, 1_000_000_000)

    assert states["done"] is done
    assert states["never-ran"].finished_at == "1970-01-01T00:00:01Z"
