"""Refuse users that tasks must not run as."""

from __future__ import annotations

from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook

USER_DENYLIST_DEFAULT = "root,Administrator"
CHECKED_DRIVERS_DEFAULT = "exec,java,qemu"


class ValidateHook(TaskHook):
    """Checks the task's user against the client option `user.denylist`."""

    name = "validate"

    def __init__(self, context: TaskContext) -> None:
        self._context = context

    async def prestart(self) -> None:
        """Fail for a denied user."""
        options = self._context.node.settings.options
        user, driver = self._context.task.user, self._context.task.driver
        checked = options.get("user.checked_drivers", CHECKED_DRIVERS_DEFAULT).split(",")
        denied = options.get("user.denylist", USER_DENYLIST_DEFAULT).split(",")
        if driver in checked and user in denied:
            raise HookFailed(f'running as user "{user}" is disallowed')


def make(context: TaskContext) -> TaskHook | None:
    """Only tasks that name a user need checking."""
    return ValidateHook(context) if context.task.user else None
