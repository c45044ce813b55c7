"""What people may do with a running task: measure it, and run commands beside it."""

from __future__ import annotations

from yurt.agent.drivers import TaskHandle
from yurt.agent.drivers.session import OpensSessions
from yurt.agent.drivers.usage import Measured
from yurt.agent.task_runner.hook import CannotEnter
from yurt.model.resource_usage import TaskResourceUsage, with_ticks
from yurt.model.task import Task
from yurt.model.task_state import TASK_DEAD, TASK_RUNNING, TaskState


def enterable(handle: TaskHandle | None, task: Task, state: TaskState) -> OpensSessions:
    """The handle of a task beside which commands can be run. Raises CannotEnter."""
    if state.state != TASK_RUNNING or handle is None:
        is_over = state.state == TASK_DEAD or state.started_at is not None
        raise CannotEnter(f'task "{task.name}" {"is not running." if is_over else "not started yet."}')
    if not isinstance(handle, OpensSessions):
        raise CannotEnter(f'driver "{task.driver}" cannot run commands in its tasks')
    return handle


async def task_usage(handle: TaskHandle | None, *, mhz: float) -> TaskResourceUsage | None:
    """What a task uses on cores of so many MHz; None when it does not run, or cannot be measured."""
    if handle is None or not isinstance(handle, Measured):
        return None
    found = await handle.usage()
    if found is None:
        return None
    return TaskResourceUsage(
        resource_usage=with_ticks(found.resource_usage, mhz),
        timestamp=found.timestamp,
        pids={pid: with_ticks(usage, mhz) for pid, usage in found.pids.items()} if found.pids else None,
    )
