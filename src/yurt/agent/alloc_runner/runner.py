"""Run one allocation: its tasks in their order, and what is reported about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from yurt.agent import task_events
from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.health_watch import NEVER, HealthWatch
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed
from yurt.agent.alloc_runner.hooks.registry import HOOKS
from yurt.agent.alloc_runner.killing import TaskKiller
from yurt.agent.alloc_runner.lifecycle import (
    Phase,
    Role,
    kill_cause,
    may_run,
    next_phase,
    role,
)
from yurt.agent.alloc_runner.signals import TaskUnknown, signal_tasks
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
from yurt.agent.task_runner.hook import CannotEnter
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
from yurt.model.resource_usage import AllocResourceUsage, alloc_usage
from yurt.model.task_state import TASK_DEAD, TASK_RUNNING, TaskEvent, TaskState
from yurt.model.times import SECOND_NS, time_ns, time_text
from yurt.model.wire import Nanoseconds
from yurt.observe.logger import get_logger

RESTART_TASK = "User requested task to restart"
RESTART_RUNNING = "User requested running tasks to restart"
RESTART_ALL = "User requested all tasks to restart"

logger = get_logger("alloc_runner")


class AllocNotToRun(YurtError):
    """A whole allocation is to be restarted that is over, or about to be."""

    def __init__(self) -> None:
        super().__init__("restart of an alloc that should not run")


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
        self._health = HealthWatch(
            self._context,
            self._roles,
            decided=stored.record.deployment_status if stored else None,
            on_decision=self._health_decided,
        )
        self._killer = TaskKiller(self._context, self._roles, self._hooks, on_over=self._look_again)
        self._phase = Phase.PRESTART
        self._forced_status: ClientStatus | None = None
        self._is_prepared = False
        self._is_stopping = alloc.desired_status != DESIRED_RUN
        self._is_stop_handled = False
        self._is_cause_handled = False
        self._expires_at = _expiry(alloc, group)
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
        return self._context.states

    @property
    def status(self) -> ClientStatus:
        """What its tasks amount to."""
        return self._forced_status or client_status(self.states)

    @property
    def health(self) -> bool | None:
        """Whether its deployment may count on it; None while that is not decided."""
        if self._health.decided is not None:
            return self._health.decided.healthy
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
        health = self._health.decided
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
            self._health.begin_again()
        if alloc.client_status == CLIENT_UNKNOWN:
            for runner in self._runners.values():
                if runner.state.state != TASK_DEAD:
                    runner.emit(task_events.reconnected(self._now()))
        self.alloc, self._group = alloc, group
        self._context.alloc, self._context.group = alloc, group
        for task in group.tasks:
            if task.name in self._runners:
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
        if skip_delays:
            self._killer.skip_delays()
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
        if dead and self.health is None:
            self._health.give_up()

    async def signal(self, name: str, signal: str) -> None:
        """Signal one task, or all running ones for an empty name.

        Raises TaskUnknown, TaskNotRunning or DriverError, and MultiError where no task runs.
        """
        await signal_tasks(self._runners, name, signal, now=self._now())

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
        self._killer.kill_all(self._group_tasks, include_poststop=True)

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
            look_again_at = self._health.look(
                is_stopping=self._is_stopping, is_killing=self._killer.is_killing
            )
            all_dead = all(runner.state.state == TASK_DEAD for runner in self._runners.values())
            if all_dead and not self._killer.is_killing:
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
        assert self._group_tasks is not None
        if self._is_stopping and not self._is_stop_handled:
            self._is_stop_handled = True
            self._killer.stop(self._group_tasks)
        if self._now() >= self._expires_at:
            self._expires_at = NEVER
            self._forced_status = ClientStatus(CLIENT_COMPLETE, task_events.MAX_RUN_DURATION_REASON)
            self._task_changed()
            reason = task_events.MAX_RUN_DURATION_REASON
            self._killer.kill_all(self._group_tasks, reason=reason, include_poststop=True)
        tasks = {name: runner.task for name, runner in self._runners.items()}
        cause = kill_cause(tasks, self._roles, self.states)
        if cause is not None and not self._is_cause_handled:
            self._is_cause_handled = True
            self._killer.kill_because(cause, self._group_tasks)

    @property
    def _is_ending(self) -> bool:
        return self._is_stopping or self._is_cause_handled or self._forced_status is not None

    # --- details --------------------------------------------------------------------------------

    def _task_changed(self) -> None:
        self._changed.set()
        self._on_change(self)

    def _look_again(self) -> None:
        self._changed.set()

    def _health_decided(self) -> None:
        self._save()
        self._on_change(self)

    def _restart_signaled(self, reason: str) -> TaskEvent:
        return task_events.restart_signaled(self._now(), reason=reason)

    def _now(self) -> Nanoseconds:
        return self._node.clock.now_ns()

    def _save(self) -> None:
        self._node.db.put_alloc(
            AllocRecord(
                alloc=self.alloc, deployment_status=self._health.decided, network=self._context.network
            )
        )

    def _network_changed(self) -> None:
        self._save()
        self._on_change(self)


def _expiry(alloc: ClientAlloc, group: TaskGroup) -> float:
    if not group.max_run_duration:
        return NEVER
    return alloc.create_time + group.max_run_duration
