"""Tell the task which devices are its own."""

from __future__ import annotations

from yurt.agent.devices.reservation import DeviceGone
from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook


class DevicesHook(TaskHook):
    """Checks that the task's devices are there, and names them in its environment."""

    name = "devices"

    def __init__(self, context: TaskContext) -> None:
        self._context = context

    async def prestart(self) -> None:
        """Fail rather than start a task without its devices, or with another's."""
        context = self._context
        given = context.alloc.resources.tasks.get(context.task.name)
        try:
            reservation = context.node.devices.reservation((given.devices if given else None) or ())
        except DeviceGone as error:
            raise HookFailed(str(error), recoverable=True) from error
        context.set_env(self.name, reservation.env)


def make(context: TaskContext) -> TaskHook | None:
    """Only tasks that were given devices have some."""
    given = context.alloc.resources.tasks.get(context.task.name)
    return DevicesHook(context) if given is not None and given.devices else None
