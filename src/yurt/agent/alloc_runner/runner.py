"""Run one allocation: its tasks in their order, and what is reported about them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine
from typing import Any, assert_never

from yurt.agent import task_events
from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.health import (
    HealthRules,
    Healthy,
    Undecided,
    Unhealthy,
    health_rules,
    judge_health,
    unhealthy_reasons,
)
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed
from yurt.agent.alloc_runner.hooks.registry import HOOKS
from yurt.agent.alloc_runner.kill_order import kill_waves
from yurt.agent.alloc_runner.lifecycle import (
    LeaderDead,
    MainTasksDead,
    Phase,
    Role,
    SiblingFailed,
    kill_cause,
    may_run,
    next_phase,
    role,
)
from yurt.agent.client_status import (
    TERMINAL,
    ClientStatus,
    client_status,
    with_finish_times,
)
from yurt.agent.drivers.session import Session
from yurt.agent.node_context import NodeContext
from yurt.agent.services.check_results import CheckResults
from yurt.agent.services.checks import CheckResult
from yurt.agent.state_db import AllocRecord, StoredAlloc
from yurt.agent.task_runner.hook import CannotEnter, TaskNotRunning
from yurt.agent.task_runner.runner import TaskRunner
from yurt.errors import YurtError
from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    CLIENT_UNKNOWN,
    DESIRED_RUN,
    AllocDeploymentStatus,
    NetworkStatus,
)
from yurt.model.client_protocol import AllocUpdate, ClientAlloc
from yurt.model.group import TaskGroup
from yurt.model.multi_error import MultiError
from yurt.model.resource_usage import AllocResourceUsage, alloc_usage
from yurt.model.task_state import TASK_DEAD, TASK_RUNNING, TaskEvent, TaskState
from yurt.model.times import SECOND_NS, time_ns, time_text
from yurt.model.wire import Nanoseconds
from yurt.observe.logger import get_logger

RESTART_TASK = "User requested task to restart"
RESTART_RUNNING = "User requested running tasks to restart"
RESTART_ALL = "User requested all tasks to restart"

NEVER = math.inf

logger = get_logger("alloc_runner")


class AllocNotToRun(YurtError):
    """A whole allocation is to be restarted that is over, or about to be."""

    def __init__(self) -> None:
        super().__init__("restart of an alloc that should not run")


class TaskUnknown(YurtError):
    """The allocation has no task of that name."""


class AllocRunner:
    """One allocation on this node, from its arrival until its directory is deleted.

    `on_change` is called whenever `report` would say something new.
    """

    def __init__(
        self,
        alloc: ClientAlloc,
        *,
        node: NodeContext,
        stored: StoredAlloc | None,
        on_change: Callable[[AllocRunner], None],
    ) -> None:
        """Take over an allocation whose job must have its group; nothing happens before `run`."""
        group = alloc.job.group(alloc.task_group)
        assert group is not None, f"alloc {alloc.id} names group {alloc.task_group!r}, which its job lacks"
        self.alloc = alloc
        self._group: TaskGroup = group
        self._node = node
        self._on_change = on_change
        self._is_restored = stored is not None
        self._health = stored.record.deployment_status if stored else None
        self._tasks = {task.name: task for task in group.tasks}
        self._roles: dict[str, Role] = {task.name: role(task) for task in group.tasks}
        self._runners = {
            task.name: TaskRunner(
                alloc,
                task,
                node=node,
                stored=stored.tasks.get(task.name) if stored else None,
                on_change=self._task_changed,
            )
            for task in group.tasks
        }
        self._checks = CheckResults(node.clock, self._look_again)
        self._context = AllocContext(
            alloc,
            group,
            node=node,
            runners=self._runners,
            checks=self._checks,
            on_network=self._network_changed,
        )
        self._hooks: list[AllocHook] = [hook for make in HOOKS if (hook := make(self._context)) is not None]
        self._phase = Phase.PRESTART
        self._forced_status: ClientStatus | None = None
        self._is_prepared = False
        self._is_stopping = alloc.desired_status != DESIRED_RUN
        self._is_stop_handled = False
        self._must_not_delay = False
        self._is_cause_handled = False
        self._expires_at = _expiry(alloc, group)
        self._watched_since = self._now()
        self._unhealthy: HealthRules | None = None  # decided, and to be told in events
        self._has_prekilled = False
        self._kills: set[asyncio.Task[None]] = set()
        self._group_tasks: asyncio.TaskGroup | None = None
        self._changed = asyncio.Event()
        self._over = asyncio.Event()
        if self._is_restored and all(state.state == TASK_DEAD for state in self.states.values()):
            self._over.set()
        if stored is not None and stored.record.network is not None:
            self._context.set_network(stored.record.network)
        self._save()

    # --- what is known about it -----------------------------------------------------------------

    @property
    def states(self) -> dict[str, TaskState]:
        """The states of its tasks."""
        return {name: runner.state for name, runner in self._runners.items()}

    @property
    def status(self) -> ClientStatus:
        """What its tasks amount to."""
        return self._forced_status or client_status(self.states)

    @property
    def health(self) -> bool | None:
        """Whether its deployment may count on it; None while that is not decided."""
        if self._health is not None:
            return self._health.healthy
        return False if self.alloc.deployment_id and self.status.status == CLIENT_FAILED else None

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs any more, or ever will."""
        return self._over.is_set()

    @property
    def tasks(self) -> dict[str, TaskRunner]:
        """Its task runners by name."""
        return dict(self._runners)

    @property
    def finished_ns(self) -> Nanoseconds:
        """When its last task ended; 0 when none has."""
        return max((time_ns(state.finished_at) for state in self.states.values()), default=0)

    @property
    def is_told_to_stop(self) -> bool:
        """Whether it ends because somebody wanted it to."""
        return self._is_stopping

    @property
    def stop_on_disconnect(self) -> Nanoseconds | None:
        """How long it may run while the servers are out of reach; None for as long as it likes."""
        disconnect = self._group.disconnect
        newer = disconnect.stop_on_client_after if disconnect else None
        return newer or self._group.stop_after_client_disconnect

    @property
    def checks(self) -> dict[str, CheckResult] | None:
        """What its checks found, by their ids; None when it has none, or is over."""
        return None if self.status.status in TERMINAL else self._checks.all or None

    async def wait_until_over(self) -> None:
        """Wait until nothing of it runs any more."""
        await self._over.wait()

    def report(self) -> AllocUpdate:
        """What the servers should know."""
        now = self._now()
        status, states = self.status, self.states
        if status.status in TERMINAL:
            states = with_finish_times(states, now)
        network = self._context.network
        health = self._health
        if health is None and self.health is False:
            health = AllocDeploymentStatus(healthy=False, timestamp=time_text(now))
        return AllocUpdate(
            id=self.alloc.id,
            client_status=status.status,
            client_description=status.description,
            task_states=states,
            deployment_status=health,
            network_status=network.status if network is not None else NetworkStatus(),
            modify_time=now,
        )

    # --- what the servers and people ask --------------------------------------------------------

    async def run(self) -> None:
        """Run the allocation until all of its tasks are dead. Cancelling leaves the tasks alone."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._group_tasks = tasks
                self._context.begin(tasks)
                if self._is_restored:
                    await asyncio.gather(*(runner.restore() for runner in self._runners.values()))
                preparing = tasks.create_task(self._prerun(), name=f"prerun {self.alloc.id}")
                await self._drive()
                preparing.cancel()
                self._context.end()
        finally:
            self._group_tasks = None
        await self.clean_up()
        self._over.set()
        self._on_change(self)

    async def clean_up(self) -> None:
        """Undo what was done around the tasks, all of which are dead. Safe to call again."""
        for hook in self._hooks:
            await hook.postrun()

    def update(self, alloc: ClientAlloc) -> None:
        """Take over a newer version of the allocation from the servers."""
        group = alloc.job.group(alloc.task_group)
        assert group is not None, f"alloc {alloc.id} names group {alloc.task_group!r}, which its job lacks"
        if alloc.deployment_id != self.alloc.deployment_id:
            self._health = None
            self._watched_since = self._now()
        if alloc.client_status == CLIENT_UNKNOWN:
            for runner in self._runners.values():
                if runner.state.state != TASK_DEAD:
                    runner.emit(task_events.reconnected(self._now()))
        self.alloc, self._group = alloc, group
        self._context.alloc, self._context.group = alloc, group
        for task in group.tasks:
            if task.name in self._runners:
                self._tasks[task.name] = task
                self._runners[task.name].update(alloc, task)
        self._save()
        if self.is_over:
            return
        if alloc.desired_status != DESIRED_RUN:
            self.stop()
        if self._is_prepared and self._context.is_active and not self._is_ending:
            for hook in self._hooks:
                hook.update()
        self._task_changed()

    def stop(self, *, skip_delays: bool = False) -> None:
        """Begin to end the allocation; poststop tasks still run."""
        self._is_stopping = True
        self._must_not_delay = self._must_not_delay or skip_delays
        self._changed.set()

    def restart_task(self, name: str) -> None:
        """Restart one running task. Raises TaskUnknown or TaskNotRunning."""
        if name not in self._runners:
            raise TaskUnknown(f"Could not find task runner for task: {name}")
        self._runners[name].restart(self._restart_signaled(RESTART_TASK))

    def restart_running(self) -> None:
        """Restart the tasks that run now; others stay as they are. Raises AllocNotToRun."""
        if self._is_ending or self.status.status in TERMINAL:
            raise AllocNotToRun
        for runner in self._runners.values():
            if runner.state.state == TASK_RUNNING:
                runner.restart(self._restart_signaled(RESTART_RUNNING))

    def restart_all(self) -> None:
        """Run the allocation from the start again, dead tasks included. Raises AllocNotToRun."""
        if self._group_tasks is None or self._is_ending or self.status.status in TERMINAL:
            raise AllocNotToRun
        dead = [name for name, state in self.states.items() if state.state == TASK_DEAD]
        for name, runner in self._runners.items():
            event = self._restart_signaled(RESTART_ALL)
            if runner.is_active:
                runner.restart_in_turn(event)
            elif name in dead:
                runner.revive(event)
        self._phase = Phase.INIT
        rules = health_rules(self.alloc, self._group)
        if dead and rules is not None and self.health is None:
            # A task that had done its part has it before it again.
            self._decide_health(healthy=False)
            self._emit_unhealthy(rules)

    async def signal(self, name: str, signal: str) -> None:
        """Signal one task, or all running ones for an empty name.

        Raises TaskUnknown, TaskNotRunning or DriverError, and MultiError where no task runs.
        """
        if name and name not in self._runners:
            raise TaskUnknown("Task not found")
        running = [runner for runner in self._runners.values() if runner.state.state == TASK_RUNNING]
        if not name and not running:
            raise MultiError(
                [f"Failed to signal task: {each}, err: {TaskNotRunning()}" for each in self._runners]
            )
        for runner in [self._runners[name]] if name else running:
            await runner.signal(task_events.signaling(self._now(), signal=signal), signal)

    async def open_session(self, name: str, argv: tuple[str, ...], *, tty: bool) -> Session:
        """Run a command beside a task, with its streams open.

        Raises TaskUnknown, CannotEnter or DriverError.
        """
        if self.status.status in TERMINAL:
            raise CannotEnter(
                f"exec not possible, client status of allocation {self.alloc.id} is {self.status.status}"
            )
        if name not in self._runners:
            raise TaskUnknown("task not found")
        return await self._runners[name].open_session(argv, tty=tty)

    def end_for_disk(self, *, used_mb: int, limit_mb: int) -> None:
        """Begin to end the allocation as failed, because it fills the node's disk."""
        if self._group_tasks is None or self._is_ending:
            return
        self._is_cause_handled = True
        for runner in self._runners.values():
            if runner.state.state != TASK_DEAD:
                runner.emit(task_events.disk_exceeded(self._now(), used_mb=used_mb, limit_mb=limit_mb))
        self._spawn_kill(self._kill_all(include_poststop=True))

    async def usage(self, task: str = "") -> AllocResourceUsage:
        """What its tasks use, or one of them; those that do not run are left out."""
        names = [name for name in self._runners if task in ("", name)]
        found = await asyncio.gather(*(self._runners[name].usage() for name in names))
        return alloc_usage({name: usage for name, usage in zip(names, found, strict=True) if usage})

    def fail(self, description: str) -> None:
        """Give the allocation up without running it."""
        self._forced_status = ClientStatus(CLIENT_FAILED, description)
        self._over.set()
        self._on_change(self)

    # --- its life -------------------------------------------------------------------------------

    async def _prerun(self) -> None:
        # An agent that was killed before it made the directory had started nothing in it either.
        if self._is_restored and self._context.has_begun and not self._node.dirs.exists(self.alloc.id):
            await self._fail_setup("alloc_dir", "the allocation's directory is gone")
            return
        for hook in self._hooks:
            try:
                await hook.prerun()
            except SetupFailed as error:
                await self._fail_setup(hook.name, str(error))
                return
        self._is_prepared = True
        self._changed.set()

    async def _fail_setup(self, hook: str, error: str) -> None:
        text = f'failed to setup alloc: pre-run hook "{hook}" failed: {error}'
        logger.warning("alloc.setup_failed", alloc_id=self.alloc.id, error=text)
        for runner in self._runners.values():
            await runner.kill(task_events.setup_failure(self._now(), error=text))

    async def _drive(self) -> None:
        """Start and kill tasks as their states call for, until all are dead."""
        while True:
            self._changed.clear()
            self._start_tasks()
            self._end_tasks()
            look_again_at = self._watch_health()
            all_dead = all(runner.state.state == TASK_DEAD for runner in self._runners.values())
            if all_dead and not self._kills:
                return
            await self._wait_for_change(min(look_again_at, self._expires_at))

    async def _wait_for_change(self, until: float) -> None:
        if until == NEVER:
            await self._changed.wait()
            return
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await self._node.sleep_until_done(max(0.0, until - self._now()) / SECOND_NS, changed)
        finally:
            changed.cancel()

    def _start_tasks(self) -> None:
        """Start every task whose turn it is, and see to those that were found running."""
        assert self._group_tasks is not None
        states = self.states
        self._phase = next_phase(self._phase, self._roles, states)
        for name, runner in self._runners.items():
            if runner.is_active or states[name].state == TASK_DEAD:
                continue
            role = self._roles[name]
            is_barred = self._is_ending and role is not Role.POSTSTOP
            has_turn = self._is_prepared and not is_barred and may_run(role, self._phase)
            if has_turn or runner.handle is not None:
                runner.start(self._group_tasks)

    def _end_tasks(self) -> None:
        """Begin to kill tasks when the servers, the time or other tasks call for it; once for each."""
        if self._is_stopping and not self._is_stop_handled:
            self._is_stop_handled = True
            self._spawn_kill(self._stop())
        if self._now() >= self._expires_at:
            self._expires_at = NEVER
            self._forced_status = ClientStatus(CLIENT_COMPLETE, task_events.MAX_RUN_DURATION_REASON)
            self._task_changed()
            reason = task_events.MAX_RUN_DURATION_REASON
            self._spawn_kill(self._kill_all(reason=reason, include_poststop=True))
        cause = kill_cause(self._tasks, self._roles, self.states)
        if cause is not None and not self._is_cause_handled:
            self._is_cause_handled = True
            for name, runner in self._runners.items():
                if runner.state.state != TASK_DEAD and self._roles[name] is not Role.POSTSTOP:
                    runner.emit(_cause_event(cause, self._now()))
            self._spawn_kill(self._kill_all())

    @property
    def _is_ending(self) -> bool:
        return self._is_stopping or self._is_cause_handled or self._forced_status is not None

    @property
    def _skips_delay(self) -> bool:
        transition = self.alloc.desired_transition
        return self._must_not_delay or (transition is not None and bool(transition.no_shutdown_delay))

    async def _stop(self) -> None:
        await self._prekill()
        delay = self._group.shutdown_delay
        has_run = any(state.started_at for state in self.states.values())
        if delay and has_run and not self._skips_delay:
            await self._node.clock.sleep(delay / SECOND_NS)
        # There is nothing to clean up after an allocation that never ran.
        await self._kill_all(include_poststop=not has_run)

    async def _prekill(self) -> None:
        if not self._has_prekilled:
            self._has_prekilled = True
            for hook in self._hooks:
                await hook.prekill()

    async def _kill_all(self, *, reason: str = "", include_poststop: bool = False) -> None:
        await self._prekill()
        for wave in kill_waves(self._tasks, self._roles, include_poststop=include_poststop):
            await asyncio.gather(*(self._kill_one(self._runners[name], reason) for name in wave))

    async def _kill_one(self, runner: TaskRunner, reason: str) -> None:
        event = task_events.killing(self._now(), kill_timeout=runner.kill_timeout, reason=reason)
        await runner.kill(event, skip_delay=self._skips_delay)

    def _spawn_kill(self, kill: Coroutine[Any, Any, None]) -> None:
        assert self._group_tasks is not None
        task = self._group_tasks.create_task(kill, name=f"kill {self.alloc.id}")
        self._kills.add(task)
        task.add_done_callback(self._kill_is_over)

    def _kill_is_over(self, task: asyncio.Task[None]) -> None:
        self._kills.discard(task)
        self._changed.set()

    # --- its health -----------------------------------------------------------------------------

    def _watch_health(self) -> float:
        """Judge the health while it is not decided; give the time of the next look."""
        if self._unhealthy is not None and not self._kills:
            # The reasons tell how the tasks ended, so they wait for the end of those being killed.
            self._emit_unhealthy(self._unhealthy)
            self._unhealthy = None
        rules = health_rules(self.alloc, self._group)
        if rules is None or self._health is not None:
            return NEVER
        verdict = judge_health(
            rules,
            self._roles,
            self.states,
            checks_passing_since=self._checks.passing_since,
            watched_since=self._watched_since,
            now=self._now(),
        )
        match verdict:
            case Healthy():
                self._decide_health(healthy=True)
            case Unhealthy():
                self._decide_health(healthy=False)
                if not self._is_stopping:
                    self._unhealthy = rules
                    return self._watch_health()
            case Undecided(until=until):
                return until
            case _:
                assert_never(verdict)
        return NEVER

    def _decide_health(self, *, healthy: bool) -> None:
        known = self.alloc.deployment_status
        self._health = AllocDeploymentStatus(
            healthy=healthy, timestamp=time_text(self._now()), canary=known is not None and known.canary
        )
        self._save()
        self._on_change(self)

    def _emit_unhealthy(self, rules: HealthRules) -> None:
        if not self.alloc.deployment_id:
            return
        are_checks_passing = self._checks.passing_since is not None
        reasons = unhealthy_reasons(
            rules, self._roles, self.states, are_checks_passing=are_checks_passing, now=self._now()
        )
        for name, reason in reasons.items():
            self._runners[name].emit(task_events.alloc_unhealthy(self._now(), reason=reason))

    # --- details --------------------------------------------------------------------------------

    def _task_changed(self) -> None:
        self._changed.set()
        self._on_change(self)

    def _look_again(self) -> None:
        self._changed.set()

    def _restart_signaled(self, reason: str) -> TaskEvent:
        return task_events.restart_signaled(self._now(), reason=reason)

    def _now(self) -> Nanoseconds:
        return self._node.clock.now_ns()

    def _save(self) -> None:
        self._node.db.put_alloc(
            AllocRecord(alloc=self.alloc, deployment_status=self._health, network=self._context.network)
        )

    def _network_changed(self) -> None:
        self._save()
        self._on_change(self)


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


def _expiry(alloc: ClientAlloc, group: TaskGroup) -> float:
    if not group.max_run_duration:
        return NEVER
    return alloc.create_time + group.max_run_duration
