"""Work beside the life of a task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


class Background:
    """What the hooks of one task do beside its life; `on_failure` is told what went wrong there."""

    def __init__(self, owner: str, *, on_failure: Callable[[Exception], Awaitable[None]]) -> None:
        """`owner` names the task in the names of its work."""
        self._owner = owner
        self._on_failure = on_failure
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Let work live in `group` from now on."""
        self._group = group

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Begin some work; only after `begin`."""
        assert self._group is not None, "only the hooks of a task that was started have work beside it"
        task = self._group.create_task(self._do(work), name=f"{name} of {self._owner}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def stop(self) -> None:
        """Cancel all of it."""
        for task in self._tasks:
            task.cancel()

    async def _do(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - it becomes the end of the task
            await self._on_failure(error)
