"""What a step around an allocation's run is."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from yurt.agent.alloc_runner.context import AllocContext
from yurt.errors import YurtError


class SetupFailed(YurtError):
    """A step before the tasks' start failed, so none of them can run."""


class AllocHook:
    """One step around an allocation's run; subclasses override what they need."""

    name: ClassVar[str]

    async def prerun(self) -> None:
        """Prepare the allocation; raises SetupFailed. Runs again when a restarted agent restores it."""

    def update(self) -> None:
        """There is a newer version of the allocation; only after a prerun that succeeded."""

    async def prekill(self) -> None:
        """The tasks are about to be killed."""

    async def postrun(self) -> None:
        """All tasks are dead."""


HookFactory = Callable[[AllocContext], AllocHook | None]
"""Makes a hook for an allocation; None when it has no need of it."""
