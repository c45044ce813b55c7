"""Kill the tasks of an allocation, in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, assert_never

from yurt.agent import task_events
from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook
from yurt.agent.alloc_runner.kill_order import kill_waves
from yurt.agent.alloc_runner.lifecycle import LeaderDead, MainTasksDead, Role, SiblingFailed
from yurt.agent.task_runner.runner import TaskRunner
from yurt.model.task_state import TASK_DEAD, TaskEvent
from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds


class TaskKiller:
    """Ends an allocation's tasks; several causes may do so at once. `on_over` is called after each."""

    def __init__(
        self,
        context: AllocContext,
        roles: Mapping[str, Role],
        hooks: Sequence[AllocHook],
        *,
        on_over: Callable[[], None],
    ) -> None:
        self._context = context
        self._roles = roles
        self._hooks = hooks
        self._on_over = on_over
        self._kills: set[asyncio.Task[None]] = set()
        self._has_prekilled = False
        self._must_not_delay = False

    @property
    def is_killing(self) -> bool:
        """Whether tasks are being killed now."""
        return bool(self._kills)

    def skip_delays(self) -> None:
        """Wait for no shutdown delay from now on."""
        self._must_not_delay = True

    def stop(self, tasks: asyncio.TaskGroup) -> None:
        """Begin to end the allocation as its group says; poststop tasks still run."""
        self._spawn(tasks, self._stop())

    def kill_all(self, tasks: asyncio.TaskGroup, *, reason: str = "", include_poststop: bool = False) -> None:
        """Begin to kill the tasks without the group's delay."""
        self._spawn(tasks, self._kill(reason=reason, include_poststop=include_poststop))

    def kill_because(
        self, cause: SiblingFailed | LeaderDead | MainTasksDead, tasks: asyncio.TaskGroup
    ) -> None:
        """Begin to kill the tasks for what became of others, which their events then tell."""
        now = self._context.node.clock.now_ns()
        for name, runner in self._context.runners.items():
            if runner.state.state != TASK_DEAD and self._roles[name] is not Role.POSTSTOP:
                runner.emit(_cause_event(cause, now))
        self.kill_all(tasks)

    def _spawn(self, tasks: asyncio.TaskGroup, work: Coroutine[Any, Any, None]) -> None:
        task = tasks.create_task(work, name=f"kill {self._context.alloc.id}")
        self._kills.add(task)
        task.add_done_callback(self._kill_is_over)

    async def _stop(self) -> None:
        await self._prekill()
        context = self._context
        delay = context.group.shutdown_delay
        has_run = context.has_begun
        if delay and has_run and not self._skips_delay:
            await context.node.clock.sleep(delay / SECOND_NS)
        # There is nothing to clean up after an allocation that never ran.
        await self._kill(reason="", include_poststop=not has_run)

    async def _kill(self, *, reason: str, include_poststop: bool) -> None:
        await self._prekill()
        runners = self._context.runners
        tasks = {name: runner.task for name, runner in runners.items()}
        for wave in kill_waves(tasks, self._roles, include_poststop=include_poststop):
            await asyncio.gather(*(self._kill_one(runners[name], reason) for name in wave))

    async def _kill_one(self, runner: TaskRunner, reason: str) -> None:
        now = self._context.node.clock.now_ns()
        event = task_events.killing(now, kill_timeout=runner.kill_timeout, reason=reason)
        await runner.kill(event, skip_delay=self._skips_delay)

    async def _prekill(self) -> None:
        if not self._has_prekilled:
            self._has_prekilled = True
            for hook in self._hooks:
                await hook.prekill()

    @property
    def _skips_delay(self) -> bool:
        transition = self._context.alloc.desired_transition
        return self._must_not_delay or (transition is not None and bool(transition.no_shutdown_delay))

    def _kill_is_over(self, task: asyncio.Task[None]) -> None:
        self._kills.discard(task)
        self._on_over()


def _cause_event(cause: SiblingFailed | LeaderDead | MainTasksDead, now: Nanoseconds) -> TaskEvent:
    match cause:
        case SiblingFailed(task=task):
            return task_events.sibling_failed(now, sibling=task)
        case LeaderDead():
            return task_events.leader_dead(now)
        case MainTasksDead():
            return task_events.main_tasks_dead(now)
        case _:
            assert_never(cause)
