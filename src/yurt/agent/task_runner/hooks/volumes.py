"""Refuse volumes where the driver cannot mount them."""

from __future__ import annotations

from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook


class VolumesHook(TaskHook):
    """Checks that the task's driver can mount what the task asks for."""

    name = "volumes"

    def __init__(self, context: TaskContext) -> None:
        self._context = context

    async def prestart(self) -> None:
        """Fail rather than start a task without its data."""
        task = self._context.task
        if not self._context.driver.capabilities.host_volumes:
            raise HookFailed(f'task driver "{task.driver}" for "{task.name}" does not support host volumes')


def make(context: TaskContext) -> TaskHook | None:
    """Only tasks with volumes need checking."""
    return VolumesHook(context) if context.task.volume_mounts else None
