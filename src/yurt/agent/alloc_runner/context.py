"""The allocation, as the steps around its run see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from yurt.agent import task_events
from yurt.agent.network.group_network import GroupNetwork
from yurt.agent.node_context import NodeContext
from yurt.agent.services.check_results import CheckResults
from yurt.agent.services.registrations import Owner
from yurt.agent.task_env import group_env
from yurt.agent.task_runner.hook import TaskNotRunning
from yurt.agent.task_runner.runner import TaskRunner
from yurt.model.alloc import NetworkStatus
from yurt.model.client_protocol import ClientAlloc
from yurt.model.group import TaskGroup
from yurt.model.task_state import TaskState
from yurt.observe.logger import get_logger

logger = get_logger("alloc_runner")


class AllocContext:
    """One allocation in its newest version, its tasks, and what its checks found."""

    def __init__(
        self,
        alloc: ClientAlloc,
        group: TaskGroup,
        *,
        node: NodeContext,
        runners: Mapping[str, TaskRunner],
        checks: CheckResults,
        on_network: Callable[[], None],
    ) -> None:
        self.alloc = alloc
        self.group = group
        self.node = node
        self.checks = checks
        self.runners = runners
        self._on_network = on_network
        self._network: GroupNetwork | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._background: set[asyncio.Task[None]] = set()

    @property
    def network(self) -> GroupNetwork | None:
        """The network of the allocation's own; None while it has none."""
        return self._network

    def set_network(self, network: GroupNetwork | None) -> None:
        """From now on the tasks are started in this network."""
        self._network = network
        for runner in self.runners.values():
            runner.network = network
        self._on_network()

    @property
    def states(self) -> dict[str, TaskState]:
        """The states of its tasks."""
        return {name: runner.state for name, runner in self.runners.items()}

    @property
    def is_active(self) -> bool:
        """Whether work can be done beside the allocation's life."""
        return self._tasks is not None

    @property
    def has_begun(self) -> bool:
        """Whether one of its tasks was ever started."""
        return any(runner.state.started_at is not None for runner in self.runners.values())

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """From now on work can be done beside the allocation's life."""
        self._tasks = tasks

    def end(self) -> None:
        """End all work beside the allocation's life."""
        self._tasks = None
        for task in self._background:
            task.cancel()

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Do something beside the allocation's life. It ends with that at the latest."""
        assert self._tasks is not None, "only hooks of an allocation that runs have work beside it"
        task = self._tasks.create_task(self._beside(work), name=f"{name} of {self.alloc.id}")
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def owner(self, task: str = "") -> Owner:
        """Whose a service is: a task's, or the group's."""
        node = self.node
        if not task:
            env = group_env(self.alloc, node=node.node, region=node.settings.region, status=self._status)
            return Owner(alloc=self.alloc, env=env, status=self._status)
        runner = self.runners[task]
        network = runner.handle.network if runner.handle is not None else None
        return Owner(alloc=self.alloc, env=runner.env(), task=task, network=network, status=self._status)

    @property
    def _status(self) -> NetworkStatus | None:
        return self._network.status if self._network is not None else None

    def restart_as_failed(self, task: str, *, reason: str) -> None:
        """Restart a task, or all without a name, as policies allow; tasks that do not run stay so."""
        for name, runner in self.runners.items():
            if task in ("", name):
                event = task_events.restart_signaled(self.node.clock.now_ns(), reason=reason)
                try:
                    runner.restart(event, as_failed=True)
                except TaskNotRunning:
                    continue

    async def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:  # the tasks are not to blame
            logger.exception("alloc.hook_failed", alloc_id=self.alloc.id)
