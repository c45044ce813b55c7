"""Let the task reach the API on a socket in its secrets directory."""

from __future__ import annotations

from yurt.agent.access.confined import PathEscapes
from yurt.agent.drivers import TaskHandle
from yurt.agent.task_api import OpenDoor, TaskSocket
from yurt.agent.task_runner.hook import TaskContext, TaskHook
from yurt.observe.logger import get_logger

logger = get_logger("task_api")


class TaskApiHook(TaskHook):
    """Listens for as long as the task lives here."""

    name = "task_api"

    def __init__(self, context: TaskContext, open_door: OpenDoor) -> None:
        self._context = context
        self._socket = TaskSocket(context.dir.path, open_door)

    async def prestart(self) -> None:
        """Listen; a task that starts again finds the socket as it was."""
        self._listen()

    async def poststart(self, handle: TaskHandle) -> None:
        """A task that was found running gets its socket back."""
        self._listen()

    async def stop(self) -> None:
        """Stop listening."""
        self._socket.close()

    def _listen(self) -> None:
        if self._socket.is_listening:
            return
        try:
            self._socket.listen(self._context.task.user)
        except (OSError, PathEscapes) as error:
            # Most tasks never look at it; those that do find out soon enough.
            logger.warning(
                "task_api.not_listening",
                alloc_id=self._context.alloc.id,
                task=self._context.task.name,
                error=str(error),
            )


def make(context: TaskContext) -> TaskHook | None:
    """Every task, where the node has an API to offer."""
    open_door = context.node.task_api
    return TaskApiHook(context, open_door) if open_door is not None else None
