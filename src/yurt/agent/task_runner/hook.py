"""What a step around a task's run is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, ClassVar, Protocol

from yurt.agent.alloc_dir import TaskDir
from yurt.agent.drivers import Driver, TaskHandle
from yurt.agent.network.group_network import GroupNetwork
from yurt.agent.node_context import NodeContext
from yurt.agent.task_env import TaskEnv
from yurt.errors import YurtError
from yurt.model.client_protocol import ClientAlloc
from yurt.model.task import Task
from yurt.model.task_state import TaskEvent


class HookFailed(YurtError):
    """A step before the start failed, so the task cannot start now.

    `event` tells it where the ordinary text, the hook's name and the error, will not do. A `recoverable`
    failure is tried again as the restart policy says.
    """

    def __init__(self, message: str, *, event: TaskEvent | None = None, recoverable: bool = False) -> None:
        super().__init__(message)
        self.event = event
        self.recoverable = recoverable


class TaskNotRunning(YurtError):
    """The task is asked for something that only running tasks can do."""

    def __init__(self) -> None:
        super().__init__("Task not running")


class CannotEnter(YurtError):
    """No command can be run beside the task."""


class TaskContext(Protocol):
    """The task, as its hooks see it."""

    @property
    def alloc(self) -> ClientAlloc:
        """The allocation, in its newest version."""

    @property
    def task(self) -> Task:
        """The task, in its newest version."""

    @property
    def dir(self) -> TaskDir:
        """The task's directories."""

    @property
    def driver(self) -> Driver:
        """What runs the task."""

    @property
    def network(self) -> GroupNetwork | None:
        """The network of the allocation's own; None on the host's."""

    @property
    def node(self) -> NodeContext:
        """The node, its clock and its settings."""

    def env(self) -> TaskEnv:
        """The task's environment as known so far."""

    def set_env(self, hook: str, variables: Mapping[str, str]) -> None:
        """Add variables to the environment of the next start; those of later hooks win."""

    def set_secrets(self, values: Mapping[str, str]) -> None:
        """Set what `${secret.…}` stands for from the next start on, by whole names."""

    def emit(self, event: TaskEvent) -> None:
        """Write an event about the task."""

    def restart(self, event: TaskEvent) -> None:
        """Restart the running task at once; the restart policy does not count it. Raises TaskNotRunning."""

    async def signal(self, event: TaskEvent, signal: str) -> None:
        """Send the running task a signal. Raises TaskNotRunning, or DriverError."""

    async def kill(self, event: TaskEvent) -> None:
        """End the task for good, and wait until it has."""

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Do something beside the task's life. It ends with that at the latest; its failure ends the task."""


class TaskHook:
    """One step around a task's run; subclasses override what they need.

    A hook lives as long as its task on this node. `runs_once` prestarts that succeeded are repeated
    neither when the task restarts nor when the agent does.
    """

    name: ClassVar[str]
    runs_once: ClassVar[bool] = False

    async def prestart(self) -> None:
        """Prepare the start; raises HookFailed. Cancelled when the task is killed meanwhile."""

    async def poststart(self, handle: TaskHandle) -> None:
        """The task runs: it was started, or found again after the agent restarted."""

    def update(self) -> None:
        """There is a newer version of the allocation."""

    async def prekill(self) -> None:
        """The task is about to be killed."""

    async def exited(self) -> None:
        """The task ended; it may be started again."""

    async def stop(self) -> None:
        """The task is dead for good."""


HookFactory = Callable[[TaskContext], TaskHook | None]
"""Makes a hook for a task; None when the task has no need of it."""
