"""The events a node agent writes about tasks, each with its details and the older members like them."""

from __future__ import annotations

from yurt.model import task_events as kinds
from yurt.model.durations import duration_text
from yurt.model.task_state import TaskEvent
from yurt.model.wire import Nanoseconds

MAX_RUN_DURATION_REASON = "allocation exceeded max_run_duration"
RESTORE_FAILED_TEXT = "failed to restore task; will not run until server is contacted"


def received(at: Nanoseconds) -> TaskEvent:
    """The agent has the task."""
    return TaskEvent(type=kinds.RECEIVED, time=at)


def building_task_dir(at: Nanoseconds) -> TaskEvent:
    """The task's directory is being made."""
    text = "Building Task Directory"
    return TaskEvent(type=kinds.TASK_SETUP, time=at, message=text, details={"message": text})


def setup_failure(at: Nanoseconds, *, error: str) -> TaskEvent:
    """The allocation could not be set up, so none of its tasks can run."""
    return TaskEvent(
        type=kinds.SETUP_FAILURE,
        time=at,
        fails_task=True,
        setup_error=error,
        # Tools look for this reason; it names the wrong cause, and always has.
        details={"fails_task": "true", "kill_reason": kinds.RESTORE_FAILED},
    )


def failed_validation(at: Nanoseconds, *, error: str) -> TaskEvent:
    """The driver cannot use the task's config."""
    return TaskEvent(
        type=kinds.FAILED_VALIDATION,
        time=at,
        validation_error=error,
        details={"validation_error": error},
    )


def driver_failure(at: Nanoseconds, *, error: str) -> TaskEvent:
    """The driver could not start the task."""
    return TaskEvent(type=kinds.DRIVER_FAILURE, time=at, driver_error=error, details={"driver_error": error})


def driver_message(at: Nanoseconds, *, message: str, details: dict[str, str]) -> TaskEvent:
    """The driver has something to tell."""
    return TaskEvent(type=kinds.DRIVER_MESSAGE, time=at, driver_message=message, details=details)


def hook_failed(at: Nanoseconds, *, hook: str, error: str) -> TaskEvent:
    """A step before the start failed."""
    text = f"{hook}: {error}"
    return TaskEvent(type=kinds.HOOK_FAILED, time=at, message=text, details={"message": text})


def started(at: Nanoseconds) -> TaskEvent:
    """The task runs."""
    return TaskEvent(type=kinds.STARTED, time=at)


def terminated(
    at: Nanoseconds, *, exit_code: int, signal: int, oom_killed: bool, message: str = ""
) -> TaskEvent:
    """The task ended."""
    details = {
        "exit_code": str(exit_code),
        "oom_killed": "true" if oom_killed else "false",
        "signal": str(signal),
    }
    if message:
        details["exit_message"] = message
    return TaskEvent(
        type=kinds.TERMINATED,
        time=at,
        exit_code=exit_code,
        signal=signal,
        message=message,
        details=details,
    )


def restarting(at: Nanoseconds, *, reason: str, delay: Nanoseconds) -> TaskEvent:
    """The task will be started again; restarts that somebody asked for have no `reason`."""
    return TaskEvent(
        type=kinds.RESTARTING,
        time=at,
        restart_reason=reason,
        start_delay=delay,
        details={"restart_reason": reason, "start_delay": str(delay)},
    )


def not_restarting(at: Nanoseconds, *, reason: str) -> TaskEvent:
    """The task failed for good."""
    return TaskEvent(
        type=kinds.NOT_RESTARTING,
        time=at,
        restart_reason=reason,
        fails_task=True,
        details={"fails_task": "true", "restart_reason": reason},
    )


def restart_signaled(at: Nanoseconds, *, reason: str) -> TaskEvent:
    """Somebody asked for a restart."""
    return TaskEvent(
        type=kinds.RESTART_SIGNALED,
        time=at,
        restart_reason=reason,
        details={"restart_reason": reason},
    )


def signaling(at: Nanoseconds, *, signal: str) -> TaskEvent:
    """Somebody asked for a signal to be sent."""
    return TaskEvent(type=kinds.SIGNALING, time=at, details={"signal": signal})


def killing(at: Nanoseconds, *, kill_timeout: Nanoseconds, reason: str = "") -> TaskEvent:
    """The task is being stopped; `reason` replaces the usual text."""
    return TaskEvent(
        type=kinds.KILLING,
        time=at,
        kill_timeout=kill_timeout,
        display_message=reason,
        details={"kill_timeout": duration_text(kill_timeout)},
    )


def killed(at: Nanoseconds, *, error: str = "") -> TaskEvent:
    """The task was stopped; `error` says what went wrong on the way."""
    return TaskEvent(
        type=kinds.KILLED, time=at, kill_error=error, details={"kill_error": error} if error else {}
    )


def disk_exceeded(at: Nanoseconds, *, used_mb: int, limit_mb: int) -> TaskEvent:
    """The node's disk is nearly full, and the allocation uses more of it than it asked for."""
    text = (
        f"the node's disk is nearly full, and the allocation uses {used_mb} MB of it, more than the "
        f"{limit_mb} MB of its ephemeral_disk; ask for more, or write less"
    )
    return TaskEvent(
        type=kinds.DISK_EXCEEDED,
        time=at,
        fails_task=True,
        message=text,
        display_message=text,
        details={"disk_limit": str(limit_mb), "fails_task": "true", "message": text},
    )


def sibling_failed(at: Nanoseconds, *, sibling: str) -> TaskEvent:
    """Another task of the group failed."""
    return TaskEvent(
        type=kinds.SIBLING_FAILED,
        time=at,
        failed_sibling=sibling,
        details={"failed_sibling": sibling},
    )


def leader_dead(at: Nanoseconds) -> TaskEvent:
    """The group's leader ended."""
    return TaskEvent(type=kinds.LEADER_DEAD, time=at)


def main_tasks_dead(at: Nanoseconds) -> TaskEvent:
    """Only sidecars are left."""
    return TaskEvent(type=kinds.MAIN_TASKS_DEAD, time=at)


def waiting_shutdown_delay(at: Nanoseconds, *, delay: Nanoseconds) -> TaskEvent:
    """The task is given time after its services were removed."""
    text = f"Waiting for shutdown_delay of {duration_text(delay)} before killing the task."
    return TaskEvent(type=kinds.WAITING_SHUTDOWN_DELAY, time=at, display_message=text)


def skipping_shutdown_delay(at: Nanoseconds) -> TaskEvent:
    """The request to stop asked for no delay."""
    text = "Skipping shutdown_delay before killing the task."
    return TaskEvent(type=kinds.SKIPPING_SHUTDOWN_DELAY, time=at, display_message=text)


def restore_failed(at: Nanoseconds) -> TaskEvent:
    """The agent came back and did not find the task running."""
    return TaskEvent(type=kinds.RESTORE_FAILED, time=at, display_message=RESTORE_FAILED_TEXT)


def reconnected(at: Nanoseconds) -> TaskEvent:
    """The node reached the servers again, which had given it up."""
    return TaskEvent(type=kinds.RECONNECTED, time=at)


def alloc_unhealthy(at: Nanoseconds, *, reason: str) -> TaskEvent:
    """The allocation's deployment will not count it as healthy."""
    return TaskEvent(type=kinds.ALLOC_UNHEALTHY, time=at, message=reason, details={"message": reason})


def hook_message(at: Nanoseconds, *, text: str) -> TaskEvent:
    """A step around the task's run has something to tell."""
    return TaskEvent(type=kinds.HOOK_MESSAGE, time=at, display_message=text)


def hook_trouble(at: Nanoseconds, *, text: str) -> TaskEvent:
    """A step around the task's run did not do what it should, and the task goes on."""
    return TaskEvent(type=kinds.HOOK_FAILED, time=at, display_message=text)


def template_waits(at: Nanoseconds, *, text: str) -> TaskEvent:
    """Templates cannot be rendered yet."""
    return TaskEvent(type=kinds.TEMPLATE, time=at, display_message=text)


def template_failure(at: Nanoseconds, *, text: str) -> TaskEvent:
    """The task ends because of a template."""
    return TaskEvent(
        type=kinds.KILLING, time=at, display_message=text, fails_task=True, details={"fails_task": "true"}
    )


def template_restart(at: Nanoseconds) -> TaskEvent:
    """The task is restarted because of a template."""
    text = "Template with change_mode restart re-rendered"
    return TaskEvent(type=kinds.RESTART_SIGNALED, time=at, display_message=text)


def template_signal(at: Nanoseconds, *, signal: str) -> TaskEvent:
    """The task is sent a signal because of a template; `signal` is its name in words."""
    return TaskEvent(
        type=kinds.SIGNALING,
        time=at,
        display_message="Template re-rendered",
        task_signal=signal,
        details={"task_signal": signal},
    )


def identity_restart(at: Nanoseconds, *, identity: str) -> TaskEvent:
    """The task is restarted because an identity was renewed."""
    text = f"Identity[{identity}]: new identity token acquired"
    return TaskEvent(type=kinds.RESTART_SIGNALED, time=at, display_message=text)


def identity_signal(at: Nanoseconds, *, identity: str, signal: str) -> TaskEvent:
    """The task is sent a signal because an identity was renewed."""
    return TaskEvent(
        type=kinds.SIGNALING,
        time=at,
        display_message=f"Identity[{identity}]: new identity token acquired",
        task_signal=signal,
        details={"task_signal": signal},
    )


def downloading_artifacts(at: Nanoseconds) -> TaskEvent:
    """What the task needs is being fetched."""
    return TaskEvent(type=kinds.DOWNLOADING_ARTIFACTS, time=at)


def failed_artifact_download(at: Nanoseconds, *, error: str) -> TaskEvent:
    """What the task needs could not be fetched."""
    return TaskEvent(
        type=kinds.FAILED_ARTIFACT_DOWNLOAD,
        time=at,
        download_error=error,
        details={"download_error": error},
    )
