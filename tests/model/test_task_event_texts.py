"""Task events read as they were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from yurt.model.durations import duration_text
from yurt.model.task_events import display_message
from yurt.model.task_state import TaskEvent

RECORDING = Path(__file__).parents[1] / "recordings/nomad/client/events.json"

# Their texts are made where the event is, and stored with it.
WRITTEN_BY_THE_AGENT = (
    "Template ",
    "Template re-rendered",
    "Waiting for shutdown_delay",
    "Missing: ",
    "allocation exceeded max_run_duration",
    "failed to restore task",
)


def recorded_events() -> list[Any]:
    scenarios = json.loads(RECORDING.read_text())
    return [
        pytest.param(event, id=f"{name}/{task}/{position}")
        for name, scenario in scenarios.items()
        for task, state in scenario["Tasks"].items()
        for position, event in enumerate(state["Events"])
        if not event["DisplayMessage"].startswith(WRITTEN_BY_THE_AGENT)
    ]


@pytest.mark.parametrize("recorded", recorded_events())
def test_a_recorded_event_reads_the_same(recorded: dict[str, Any]) -> None:
    members = {name: value for name, value in recorded.items() if name not in ("At", "DisplayMessage")}
    event = msgspec.convert({"Time": 1, **members}, TaskEvent)

    assert display_message(event) == recorded["DisplayMessage"]


def test_a_stored_text_wins() -> None:
    event = TaskEvent(type="Killing", time=1, kill_timeout=5, display_message="Template failed: x")

    assert display_message(event) == "Template failed: x"


def test_an_unknown_kind_shows_its_message() -> None:
    assert display_message(TaskEvent(type="Plugin became healthy", time=1, message="m")) == "m"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (TaskEvent(type="Signaling", time=1, task_signal="hangup"), "Task being sent signal hangup"),
        (
            TaskEvent(type="Signaling", time=1, task_signal="hangup", task_signal_reason="why"),
            "Task being sent signal hangup: why",
        ),
        (TaskEvent(type="Signaling", time=1, task_signal_reason="why"), "why"),
        (TaskEvent(type="Killing", time=1), "Sent interrupt"),
        (TaskEvent(type="Killing", time=1, kill_reason="why"), "why"),
        (TaskEvent(type="Sibling Task Failed", time=1), "Task's sibling failed"),
        (TaskEvent(type="Killed", time=1, kill_error="stuck"), "stuck"),
        (TaskEvent(type="Setup Failure", time=1), "Task setup failed"),
    ],
)
def test_kinds_without_a_recording(event: TaskEvent, text: str) -> None:
    assert display_message(event) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_500, "1.5µs"),
        (2_000_000, "2ms"),
        (1_055_857_960, "1.05585796s"),
        (5_000_000_000, "5s"),
        (60_000_000_000, "1m0s"),
        (3_600_000_000_000, "1h0m0s"),
        (90_061_001_000_000, "25h1m1.001s"),
        (-2_000_000_000, "-2s"),
    ],
)
def test_durations_are_written_as_go_does(duration: int, text: str) -> None:
    assert duration_text(duration) == text
