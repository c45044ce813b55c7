"""One allocation with real runners, on a clock of the test's choice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from tests.agent.builders import a_node
from yurt.agent.alloc_dir import AllocDirs
from yurt.agent.alloc_runner.runner import AllocRunner
from yurt.agent.drivers import Driver
from yurt.agent.drivers.mock import MockDriver, MockOptions
from yurt.agent.node_context import NodeContext
from yurt.agent.settings import ClientSettings
from yurt.agent.state_db import StateDb, StoredAlloc
from yurt.clock import Clock
from yurt.model.client_protocol import ClientAlloc
from yurt.model.task_events import display_message
from yurt.model.task_state import TaskState
from yurt.model.wire import AllocID


def a_node_context(
    root: Path, clock: Clock, *, drivers: dict[str, Driver] | None = None, db: StateDb | None = None
) -> NodeContext:
    settings = ClientSettings(state_dir=str(root / "client"), alloc_dir=str(root / "alloc"))
    dirs = AllocDirs(Path(settings.alloc_dir))
    dirs.open()
    mock = MockDriver(clock, MockOptions())
    return NodeContext(
        settings,
        node=a_node(),
        drivers={"mock_driver": mock} | (drivers or {}),
        dirs=dirs,
        db=db or StateDb(None),
        clock=clock,
        rng=Random(1),
    )


class RunningAlloc:
    """An allocation that runs in the background of a test."""

    def __init__(self, alloc: ClientAlloc, node: NodeContext, stored: StoredAlloc | None) -> None:
        self._news = asyncio.Event()
        self.node = node
        self.changes = 0
        self.runner = AllocRunner(alloc, node=node, stored=stored, on_change=self._changed)

    def _changed(self, _runner: AllocRunner) -> None:
        self.changes += 1
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition on the allocation to become true."""
        while not condition():
            self._news.clear()
            await self._news.wait()

    async def until_state(self, task: str, state: str) -> None:
        await self.until(lambda: self.state(task).state == state)

    async def until_over(self) -> None:
        await self.until(lambda: self.runner.is_over)

    async def until_event(self, task: str, text: str) -> None:
        await self.until(lambda: text in self.events(task))

    def state(self, task: str = "t") -> TaskState:
        return self.runner.states[task]

    def events(self, task: str = "t") -> list[str]:
        """`Type: display message` of each event."""
        return [f"{e.type}: {display_message(e)}" for e in self.state(task).events or ()]

    def kinds(self, task: str = "t") -> list[str]:
        return [event.type for event in self.state(task).events or ()]

    @property
    def status(self) -> tuple[str, str]:
        return self.runner.status.status, self.runner.status.description


@asynccontextmanager
async def running(
    alloc: ClientAlloc, node: NodeContext, stored: StoredAlloc | None = None
) -> AsyncIterator[RunningAlloc]:
    """Run an allocation; what is left of it at the end of the block is let go, and its files deleted."""
    made = RunningAlloc(alloc, node, stored)
    run = asyncio.create_task(made.runner.run())
    try:
        yield made
        if run.done():
            run.result()
    finally:
        run.cancel()
        await asyncio.wait({run})
        node.dirs.destroy(alloc.id)


def destroy_all(root: Path) -> None:
    """Delete all allocation directories below `root`, mounts included."""
    dirs = AllocDirs(root)
    for entry in root.iterdir():
        dirs.destroy(AllocID(entry.name))
