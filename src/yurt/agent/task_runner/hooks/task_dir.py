"""Tell that the task's directory is there."""

from __future__ import annotations

from yurt.agent import task_events
from yurt.agent.task_runner.hook import TaskContext, TaskHook


class TaskDirHook(TaskHook):
    """Announces the directory, which was made with those of the whole allocation."""

    name = "task_dir"
    runs_once = True

    def __init__(self, context: TaskContext) -> None:
        self._context = context

    async def prestart(self) -> None:
        """Write the event that users look for first."""
        self._context.emit(task_events.building_task_dir(self._context.node.clock.now_ns()))


def make(context: TaskContext) -> TaskHook | None:
    """Every task has a directory."""
    return TaskDirHook(context)
