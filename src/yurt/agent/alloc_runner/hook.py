"""What a step around an allocation's run is."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from yurt.agent.node_context import NodeContext
from yurt.errors import YurtError
from yurt.model.client_protocol import ClientAlloc
from yurt.model.group import TaskGroup


class SetupFailed(YurtError):
    """A step before the tasks' start failed, so none of them can run."""


class AllocHook:
    """One step around an allocation's run; subclasses override what they need."""

    name: ClassVar[str]

    async def prerun(self) -> None:
        """Prepare the allocation; raises SetupFailed. Runs again when a restarted agent restores it."""

    async def postrun(self) -> None:
        """All tasks are dead."""


HookFactory = Callable[[ClientAlloc, TaskGroup, NodeContext], AllocHook | None]
"""Makes a hook for an allocation; None when it has no need of it."""
