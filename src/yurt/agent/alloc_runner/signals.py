"""Send signals to the tasks of an allocation."""

from __future__ import annotations

from collections.abc import Mapping

from yurt.agent import task_events
from yurt.agent.task_runner.hook import TaskNotRunning
from yurt.agent.task_runner.runner import TaskRunner
from yurt.errors import YurtError
from yurt.model.multi_error import MultiError
from yurt.model.task_state import TASK_RUNNING
from yurt.model.wire import Nanoseconds


class TaskUnknown(YurtError):
    """The allocation has no task of that name."""


async def signal_tasks(
    runners: Mapping[str, TaskRunner], name: str, signal: str, *, now: Nanoseconds
) -> None:
    """Signal one task, or all running ones for an empty name.

    Raises TaskUnknown, TaskNotRunning or DriverError, and MultiError where no task runs.
    """
    if name and name not in runners:
        raise TaskUnknown("Task not found")
    running = [runner for runner in runners.values() if runner.state.state == TASK_RUNNING]
    if not name and not running:
        raise MultiError([f"Failed to signal task: {each}, err: {TaskNotRunning()}" for each in runners])
    for runner in [runners[name]] if name else running:
        await runner.signal(task_events.signaling(now, signal=signal), signal)
