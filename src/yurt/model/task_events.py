"""The kinds of task events, and how each reads."""

from __future__ import annotations

from collections.abc import Callable

from yurt.model.durations import duration_text
from yurt.model.task_state import TaskEvent

RECEIVED = "Received"
TASK_SETUP = "Task Setup"
SETUP_FAILURE = "Setup Failure"
DISK_EXCEEDED = "Disk Resources Exceeded"
FAILED_VALIDATION = "Failed Validation"
DOWNLOADING_ARTIFACTS = "Downloading Artifacts"
FAILED_ARTIFACT_DOWNLOAD = "Failed Artifact Download"
BUILDING_TASK_DIR = "Building Task Directory"
DRIVER_FAILURE = "Driver Failure"
DRIVER_MESSAGE = "Driver"
STARTED = "Started"
TERMINATED = "Terminated"
RESTARTING = "Restarting"
NOT_RESTARTING = "Not Restarting"
RESTART_SIGNALED = "Restart Signaled"
SIGNALING = "Signaling"
KILLING = "Killing"
KILLED = "Killed"
SIBLING_FAILED = "Sibling Task Failed"
LEADER_DEAD = "Leader Task Dead"
MAIN_TASKS_DEAD = "Main Tasks Dead"
RECONNECTED = "Reconnected"
HOOK_FAILED = "Task hook failed"
HOOK_MESSAGE = "Task hook message"
ALLOC_UNHEALTHY = "Alloc Unhealthy"
WAITING_SHUTDOWN_DELAY = "Waiting for shutdown delay"
SKIPPING_SHUTDOWN_DELAY = "Skipping shutdown delay"
RESTORE_FAILED = "Failed Restoring Task"
TEMPLATE = "Template"

# The reasons of restarts, as they stand in events.
RESTART_WITHIN_POLICY = "Restart within policy"
RESTART_DELAYED = "Exceeded allowed attempts, applying a delay"
RESTARTS_FORBIDDEN = "Policy allows no restarts"
RESTART_UNRECOVERABLE = "Error was unrecoverable"


def display_message(event: TaskEvent) -> str:
    """Say in a sentence what happened."""
    if event.display_message:
        return event.display_message
    writer = _WRITERS.get(event.type)
    return writer(event) if writer else event.message


def _terminated(event: TaskEvent) -> str:
    parts = [f"Exit Code: {event.exit_code}"]
    if event.signal:
        parts.append(f"Signal: {event.signal}")
    if event.message:
        parts.append(f'Exit Message: "{event.message}"')
    return ", ".join(parts)


def _restarting(event: TaskEvent) -> str:
    delay = f"Task restarting in {duration_text(event.start_delay)}"
    if event.restart_reason in ("", RESTART_WITHIN_POLICY):
        return delay
    return f"{event.restart_reason} - {delay}"


def _signaling(event: TaskEvent) -> str:
    if not event.task_signal:
        return event.task_signal_reason or "Task being sent a signal"
    named = f"Task being sent signal {event.task_signal}"
    return f"{named}: {event.task_signal_reason}" if event.task_signal_reason else named


def _killing(event: TaskEvent) -> str:
    if event.kill_reason:
        return event.kill_reason
    if event.kill_timeout:
        return f"Sent interrupt. Waiting {duration_text(event.kill_timeout)} before force killing"
    return "Sent interrupt"


def _sibling_failed(event: TaskEvent) -> str:
    return (
        f'Task\'s sibling "{event.failed_sibling}" failed'
        if event.failed_sibling
        else "Task's sibling failed"
    )


_WRITERS: dict[str, Callable[[TaskEvent], str]] = {
    RECEIVED: lambda _event: "Task received by client",
    SETUP_FAILURE: lambda event: event.setup_error or "Task setup failed",
    FAILED_VALIDATION: lambda event: event.validation_error or "Validation of task failed",
    DOWNLOADING_ARTIFACTS: lambda _event: "Client is downloading artifacts",
    FAILED_ARTIFACT_DOWNLOAD: lambda event: event.download_error or "Failed to download artifacts",
    DRIVER_FAILURE: lambda event: event.driver_error or "Failed to start task",
    DRIVER_MESSAGE: lambda event: event.driver_message,
    STARTED: lambda _event: "Task started by client",
    TERMINATED: _terminated,
    RESTARTING: _restarting,
    NOT_RESTARTING: lambda event: event.restart_reason or "Task exceeded restart policy",
    RESTART_SIGNALED: lambda event: event.restart_reason or "Task signaled to restart",
    SIGNALING: _signaling,
    KILLING: _killing,
    KILLED: lambda event: event.kill_error or "Task successfully killed",
    SIBLING_FAILED: _sibling_failed,
    LEADER_DEAD: lambda _event: "Leader Task in Group dead",
    MAIN_TASKS_DEAD: lambda _event: "Main tasks in the group died",
    RECONNECTED: lambda _event: "Client reconnected",
}
