"""What became of the tasks of an allocation."""

from __future__ import annotations

from yurt.model.wire import Nanoseconds, SparseWire, Time

TASK_PENDING = "pending"
TASK_RUNNING = "running"
TASK_DEAD = "dead"

TASK_EVENTS_MAX = 10


class TaskEvent(SparseWire, frozen=True, kw_only=True):
    """Something that happened to a task.

    Stored and sent between agents without its empty members and without `display_message`, which is
    made from the rest when someone reads it.
    """

    type: str
    time: Nanoseconds
    message: str = ""
    display_message: str = ""
    details: dict[str, str] = {}
    fails_task: bool = False
    restart_reason: str = ""
    setup_error: str = ""
    driver_error: str = ""
    exit_code: int = 0
    signal: int = 0
    kill_timeout: Nanoseconds = 0
    kill_error: str = ""
    kill_reason: str = ""
    start_delay: Nanoseconds = 0
    download_error: str = ""
    validation_error: str = ""
    disk_limit: int = 0
    failed_sibling: str = ""
    vault_error: str = ""
    task_signal_reason: str = ""
    task_signal: str = ""
    driver_message: str = ""
    generic_source: str = ""


class TaskState(SparseWire, frozen=True, kw_only=True):
    """Where a task is in its life. `events` keeps the last `TASK_EVENTS_MAX`."""

    state: str = TASK_PENDING
    failed: bool = False
    restarts: int = 0
    last_restart: Time = None
    started_at: Time = None
    finished_at: Time = None
    events: tuple[TaskEvent, ...] | None = None
    paused: str = ""
