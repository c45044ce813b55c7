"""Run one task: start it, watch it, restart it as its policy says, end it when told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, assert_never

import msgspec

from yurt.agent import task_events
from yurt.agent.alloc_dir import TaskDir
from yurt.agent.devices.reservation import DeviceGone
from yurt.agent.drivers import Driver, DriverError, ExitResult, TaskDevice, TaskHandle
from yurt.agent.drivers.session import Session, SessionRequest
from yurt.agent.network.group_network import GroupNetwork
from yurt.agent.node_context import NodeContext
from yurt.agent.restarts import (
    Complete,
    Ended,
    GiveUp,
    Restart,
    RestartWindow,
    StartFailed,
    decide_restart,
    restarts_after_success,
)
from yurt.agent.state_db import TaskRecord
from yurt.agent.task_env import TaskEnv
from yurt.agent.task_runner.access import enterable, task_usage
from yurt.agent.task_runner.background import Background
from yurt.agent.task_runner.hook import HookFailed, TaskNotRunning
from yurt.agent.task_runner.hooks.registry import HOOKS
from yurt.agent.task_runner.kill import kill_persistently
from yurt.agent.task_runner.start import (
    CannotStart,
    FromHooks,
    environment,
    in_network,
    task_spec,
    with_devices,
)
from yurt.agent.task_runner.states import as_dead, as_pending, as_revived, as_running, with_event
from yurt.model.client_protocol import ClientAlloc
from yurt.model.job import SYSTEM
from yurt.model.resource_usage import TaskResourceUsage
from yurt.model.task import Task
from yurt.model.task_state import TASK_DEAD, TASK_RUNNING, TaskEvent, TaskState
from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds
from yurt.observe.logger import get_logger

KILL_TIMEOUT_DEFAULT: Nanoseconds = 5 * SECOND_NS
logger = get_logger("task_runner")


class TaskRunner:
    """One task of one allocation on this node.

    Its owner calls `start` when the task's turn has come: while it is pending and not active. Whatever
    goes wrong with the task ends up in `state`. Cancelling what `start` began leaves the task alone.
    """

    def __init__(
        self,
        alloc: ClientAlloc,
        task: Task,
        *,
        node: NodeContext,
        stored: TaskRecord | None,
        on_change: Callable[[], None],
    ) -> None:
        now = node.clock.now_ns()
        self.alloc = alloc
        self.task = task
        self.node = node
        # The network of the allocation's own, set by its owner before the task's turn comes.
        self.network: GroupNetwork | None = None
        self.dir: TaskDir = node.dirs.task_dir(alloc.id, task.name)
        self._on_change = on_change
        self._record = stored or TaskRecord(state=TaskState(events=(task_events.received(now),)))
        self._window = RestartWindow(now)
        self._hook_env: dict[str, Mapping[str, str]] = {}
        self._secrets: Mapping[str, str] = {}
        self._hooks = [hook for make in HOOKS if (hook := make(self)) is not None]
        self._handle: TaskHandle | None = None
        self._background = Background(f"{alloc.id} {task.name}", on_failure=self._fail_beside)
        self._must_reach_server = False
        self._is_active = False
        self._is_killed = False
        self._is_restart_wanted = False
        self._counts_as_failed = False
        self._gives_up_turn = False
        self._skips_delay = False
        self._renew_stop()
        self._over = asyncio.Event()
        if stored is None:
            self._save()
        elif self._record.state.state == TASK_DEAD:
            self._over.set()

    # --- what its allocation asks -------------------------------------------------------------------

    @property
    def state(self) -> TaskState:
        """What became of the task so far."""
        return self._record.state

    @property
    def is_active(self) -> bool:
        """Whether the task has its turn: it is being prepared, runs, or waits to be restarted."""
        return self._is_active

    @property
    def handle(self) -> TaskHandle | None:
        """The driver's handle while the task runs."""
        return self._handle

    async def restore(self) -> None:
        """Find the task again after the agent was away; call before `start`."""
        stored = self._record
        if stored.handle is None:
            return
        driver = self.node.drivers.get(self.task.driver)
        self._handle = await driver.recover(stored.handle) if driver else None
        if self._handle is None:
            logger.warning("task.lost", alloc_id=self.alloc.id, task=self.task.name)
            self._change(
                as_pending(stored.state),
                task_events.restore_failed(self._now()),
                handle=None,
                is_starting=False,
            )
            # A server may have given the work to another node in the meantime. System jobs have no other.
            self._must_reach_server = self.alloc.job.type != SYSTEM

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Run the task in `tasks`, until it is dead or gives up its turn."""
        self._is_active = True
        self._background.begin(tasks)
        tasks.create_task(self._run(), name=f"task {self.alloc.id} {self.task.name}")

    def revive(self, event: TaskEvent) -> None:
        """Make a dead task ready for another `start`, because its whole allocation is restarted."""
        assert self.state.state == TASK_DEAD
        self._over.clear()
        self._is_killed = False
        self._window = RestartWindow(self._now())
        self._renew_stop()
        self.emit(event)
        restarting = task_events.restarting(self._now(), reason="", delay=0)
        self._change(as_revived(self.state), restarting)

    def restart(self, event: TaskEvent, *, as_failed: bool = False) -> None:
        """Restart the running task at once, outside of its policy; or `as_failed`, as its policy says.

        Raises TaskNotRunning.
        """
        if self.state.state != TASK_RUNNING:
            raise TaskNotRunning
        self.emit(event)
        if as_failed:
            self._counts_as_failed = True
        else:
            self._is_restart_wanted = True
        self._ask_to_stop()

    def restart_in_turn(self, event: TaskEvent) -> None:
        """Stop an active task and make it pending, until its owner calls `start` again."""
        assert self._is_active
        self.emit(event)
        self._is_restart_wanted = self._gives_up_turn = True
        self._ask_to_stop()

    async def signal(self, event: TaskEvent, signal: str) -> None:
        """Send the running task a signal. Raises TaskNotRunning, or DriverError."""
        if self._handle is None or self.state.state != TASK_RUNNING:
            raise TaskNotRunning
        self.emit(event)
        await self._handle.signal(signal)

    async def open_session(self, argv: tuple[str, ...], *, tty: bool) -> Session:
        """Run a command beside the running task, with its streams open. Raises CannotEnter or DriverError."""
        handle = enterable(self._handle, self.task, self.state)
        request = SessionRequest(argv=argv, tty=tty, env=self.env().variables, task_dir=self.dir.path)
        return await handle.open_session(request)

    async def usage(self) -> TaskResourceUsage | None:
        """What the task uses; None when it does not run, or cannot be measured."""
        mhz = float(self.node.node.attributes.get("cpu.frequency") or 0)
        return await task_usage(self._handle, mhz=mhz)

    def update(self, alloc: ClientAlloc, task: Task) -> None:
        """Take over a newer version of the allocation; most of it shows from the next start on."""
        self.alloc = alloc
        self.task = task
        for hook in self._hooks:
            hook.update()

    async def kill(self, event: TaskEvent, *, skip_delay: bool = False) -> None:
        """End the task for good, and wait until it is dead. Each call on a live task leaves its event."""
        if self.state.state == TASK_DEAD:
            return
        self._skips_delay = self._skips_delay or skip_delay
        self._is_killed = True
        self.emit(event)
        if self._is_active:
            self._ask_to_stop()
        else:
            self._background.stop()
            self._change(as_dead(self.state, self._now()))
            self._over.set()
        await self._over.wait()

    @property
    def kill_timeout(self) -> Nanoseconds:
        """How long the task may take to end after the signal; the node's limit holds."""
        return min(self.task.kill_timeout or KILL_TIMEOUT_DEFAULT, self.node.settings.max_kill_timeout)

    # --- what its hooks may use ---------------------------------------------------------------------

    @property
    def driver(self) -> Driver:
        """What runs the task. Raises CannotStart when the node has no such driver."""
        driver = self.node.drivers.get(self.task.driver)
        if driver is None:
            known = ", ".join(sorted(self.node.drivers))
            error = f'this node has no driver "{self.task.driver}"; it has: {known}'
            raise CannotStart(task_events.driver_failure(self._now(), error=error), recoverable=False)
        return driver

    def emit(self, event: TaskEvent) -> None:
        """Write an event about the task."""
        self._change(self.state, event)

    def set_env(self, hook: str, variables: Mapping[str, str]) -> None:
        """Add variables to the environment of the next start; those of later hooks win."""
        self._hook_env[hook] = variables

    def set_secrets(self, values: Mapping[str, str]) -> None:
        """Set what `${secret.…}` stands for from the next start on, by whole names."""
        self._secrets = values

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Do something beside the task's life. It ends with that at the latest; its failure ends the task."""
        return self._background.spawn(work, name=name)

    def env(self) -> TaskEnv:
        """The task's environment as known so far."""
        variables: dict[str, str] = {}
        for hook in self._hooks:
            variables |= self._hook_env.get(hook.name, {})
        return environment(
            self.alloc,
            self.task,
            node=self.node,
            driver=self.driver,
            directory=self.dir,
            hooks=FromHooks(variables, self._secrets),
            network=self.network,
        )

    # --- its life -----------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            is_dead = await self._live()
        except Exception as error:
            logger.exception("task.runner_failed", alloc_id=self.alloc.id, task=self.task.name)
            failure = task_events.driver_failure(self._now(), error=f"{type(error).__name__}: {error}")
            self.emit(msgspec.structs.replace(failure, fails_task=True))
            is_dead = True
        if is_dead:
            # It is neither dead nor another's turn before its hooks are done: they may have to wait.
            for hook in self._hooks:
                await hook.stop()
            self._background.stop()
            self._is_active = False
            self._change(as_dead(self.state, self._now()))
            self._over.set()
        else:
            self._is_active = False
            self._on_change()

    async def _live(self) -> bool:
        """Run the task again and again, until it is dead (True) or gives up its turn (False)."""
        if self._must_reach_server:
            await self._unless_stopped(self.node.server_reached.wait())
            self._must_reach_server = False
        # A task that was found running has to be ended even if it was killed before its turn.
        while not self._is_killed or self._handle is not None:
            outcome = await self._attempt()
            if self._has_been_killed():
                if outcome is not None:
                    self.emit(task_events.killed(self._now()))
                break
            if self._is_restart_wanted:
                self._is_restart_wanted = False
                self._renew_stop()
                restarting = task_events.restarting(self._now(), reason="", delay=0)
                self._change(as_pending(self.state), restarting)
                self._counts_as_failed = False
                if self._gives_up_turn:
                    self._gives_up_turn = False
                    return False
                continue
            if self._counts_as_failed:
                self._counts_as_failed = False
                self._renew_stop()
                outcome = Ended(succeeded=False)
            if outcome is None or not await self._follow_policy(outcome):
                break
        return True

    async def _follow_policy(self, outcome: Ended | StartFailed) -> bool:
        """Do what the restart policy says about an end; True when the task is to be started again."""
        self._window, decision = decide_restart(
            self.task.restart_policy,
            self._window,
            outcome,
            restarts_after_success=restarts_after_success(self.alloc.job.type, self.task.lifecycle),
            now=self._now(),
            rng=self.node.rng,
        )
        match decision:
            case Complete():
                return False
            case GiveUp(reason=reason):
                self.emit(task_events.not_restarting(self._now(), reason=reason))
                return False
            case Restart(delay=delay, reason=reason):
                restarting = task_events.restarting(self._now(), reason=reason, delay=delay)
                self._change(as_pending(self.state), restarting)
                await self.node.sleep_until_done(delay / SECOND_NS, self._stop_wanted)
                return True
            case _:
                assert_never(decision)

    async def _attempt(self) -> Ended | StartFailed | None:
        """Start the task, unless it was found running, and wait for its end; None when stopped before."""
        if self._handle is None:
            try:
                handle = await self._start()
            except CannotStart as error:
                self.emit(error.event)
                return StartFailed(recoverable=error.recoverable)
            if handle is None:
                return None
            self._handle = handle
            self._change(
                as_running(self.state, self._now()),
                task_events.started(self._now()),
                handle=handle.state,
                is_starting=False,
            )
        handle = self._handle
        for hook in self._hooks:
            await hook.poststart(handle)
        result = await self._wait_for_end(handle)
        self._handle = None
        terminated = task_events.terminated(
            min(result.ended_ns or self._now(), self._now()),
            exit_code=result.exit_code,
            signal=result.signal,
            oom_killed=result.oom_killed,
            message=result.error,
        )
        self._change(self.state, terminated, handle=None)
        for hook in self._hooks:
            await hook.exited()
        # The driver forgets the task now, so its end must be on record first.
        self.node.db.flush()
        await handle.destroy()
        return Ended(result.is_success)

    async def _start(self) -> TaskHandle | None:
        """Prepare and start the task; None when it was to stop meanwhile. Raises CannotStart."""
        driver = self.driver
        if not await self._unless_stopped(self._prestart()):
            return None
        attempt = self._record.attempt if self._record.is_starting else self._record.attempt + 1
        spec = task_spec(
            self.alloc,
            self.task,
            driver=driver,
            directory=self.dir,
            env=self.env(),
            node=self.node,
            attempt=attempt,
        )
        spec = in_network(msgspec.structs.replace(spec, announce=self._announce), self.network)
        spec = with_devices(spec, self._device_files())
        self._record = msgspec.structs.replace(self._record, attempt=attempt, is_starting=True)
        self._save()
        self.node.db.flush()
        try:
            return await driver.start(spec)
        except DriverError as error:
            self._record = msgspec.structs.replace(self._record, is_starting=False)
            event = task_events.driver_failure(self._now(), error=str(error))
            raise CannotStart(event, recoverable=error.recoverable) from error

    def _device_files(self) -> tuple[TaskDevice, ...]:
        """Those of the devices the task was given. Raises CannotStart when one went since it was named."""
        given = self.alloc.resources.tasks.get(self.task.name)
        try:
            return self.node.devices.reservation((given.devices if given else None) or ()).files
        except DeviceGone as error:
            event = task_events.driver_failure(self._now(), error=str(error))
            raise CannotStart(event, recoverable=True) from error

    async def _prestart(self) -> None:
        for hook in self._hooks:
            if hook.name in self._record.done_hooks:
                continue
            try:
                await hook.prestart()
            except HookFailed as error:
                event = error.event or task_events.hook_failed(self._now(), hook=hook.name, error=str(error))
                raise CannotStart(event, recoverable=error.recoverable) from error
            if hook.runs_once:
                done = (*self._record.done_hooks, hook.name)
                self._record = msgspec.structs.replace(self._record, done_hooks=done)

    async def _wait_for_end(self, handle: TaskHandle) -> ExitResult:
        ended = asyncio.ensure_future(handle.wait())
        try:
            await asyncio.wait((ended, self._stop_wanted), return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                await self._stop(handle, ended)
            return await ended
        finally:
            ended.cancel()

    async def _stop(self, handle: TaskHandle, ended: asyncio.Future[ExitResult]) -> None:
        if self._is_killed:
            for hook in self._hooks:
                await hook.prekill()
            await self._wait_shutdown_delay(ended)
        await kill_persistently(
            handle,
            ended,
            signal=self.task.kill_signal,
            timeout_s=self.kill_timeout / SECOND_NS,
            node=self.node,
        )

    async def _wait_shutdown_delay(self, ended: asyncio.Future[ExitResult]) -> None:
        delay = self.task.shutdown_delay
        if not delay:
            return
        if self._skips_delay:
            self.emit(task_events.skipping_shutdown_delay(self._now()))
            return
        waiting = task_events.waiting_shutdown_delay(self._now(), delay=delay)
        self._change(as_pending(self.state), waiting)
        await self.node.sleep_until_done(delay / SECOND_NS, ended)

    # --- details ------------------------------------------------------------------------------------

    async def _fail_beside(self, error: Exception) -> None:
        logger.error("task.hook_failed", alloc_id=self.alloc.id, task=self.task.name, exc_info=error)
        failure = task_events.driver_failure(self._now(), error=f"{type(error).__name__}: {error}")
        await self.kill(msgspec.structs.replace(failure, fails_task=True))

    async def _unless_stopped(self, work: Coroutine[Any, Any, object]) -> bool:
        """Do `work`; False when the task was to stop before it was done, and `work` cancelled."""
        doing = asyncio.ensure_future(work)
        try:
            await asyncio.wait((doing, self._stop_wanted), return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                doing.result()
            return not self._stop_wanted.done()
        finally:
            if not doing.done():
                doing.cancel()
                await asyncio.wait((doing,))

    def _renew_stop(self) -> None:
        self._stop_wanted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def _has_been_killed(self) -> bool:
        """Asked anew, since it may happen during any wait."""
        return self._is_killed

    def _announce(self, message: str, details: dict[str, str]) -> None:
        self.emit(task_events.driver_message(self._now(), message=message, details=details))

    def _ask_to_stop(self) -> None:
        if not self._stop_wanted.done():
            self._stop_wanted.set_result(None)

    def _now(self) -> Nanoseconds:
        return self.node.clock.now_ns()

    def _change(self, state: TaskState, event: TaskEvent | None = None, **fields: object) -> None:
        if event is not None:
            state = with_event(state, event)
        self._record = msgspec.structs.replace(self._record, state=state, **fields)
        self._save()
        self._on_change()

    def _save(self) -> None:
        self.node.db.put_task(self.alloc.id, self.task.name, self._record)
