"""Render the task's templates before it starts, and tell it when they change."""

from __future__ import annotations

import asyncio
import signal as signals
from collections.abc import Coroutine, Sequence
from typing import Any

from yurt.agent import task_events
from yurt.agent.drivers import DriverError, TaskHandle
from yurt.agent.drivers.signals import signal_number
from yurt.agent.task_commands import run_in_task
from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook, TaskNotRunning
from yurt.agent.templates.changes import RestartTask, longest_splay, reaction_to, scripts_of
from yurt.agent.templates.task_templates import BadTemplateSource, TaskTemplates, TemplateTrouble
from yurt.model.task_parts import ChangeScript, Template
from yurt.model.times import SECOND_NS

SCRIPT_TIMEOUT_S_DEFAULT = 5.0


class TemplateHook(TaskHook):
    """Keeps what was rendered for the task up to date for as long as the task lives here."""

    name = "template"

    def __init__(self, context: TaskContext) -> None:
        self._context = context
        self._templates: TaskTemplates | None = None
        self._watching: asyncio.Task[None] | None = None
        self._handle: TaskHandle | None = None
        self._ran_first_scripts = False
        # Changes since the task was prepared, which it could not be told of because it did not run yet.
        self._untold: list[Template] = []

    async def prestart(self) -> None:
        """Render everything; later starts find it rendered, unless the job wants it anew."""
        self._untold.clear()
        if self._templates is not None and not self._context.task.restart_policy.render_templates:
            return
        await self._stop_watching()
        try:
            await self._render()
        except BadTemplateSource as error:
            raise HookFailed(str(error)) from error
        except TemplateTrouble as error:
            await self._fail(str(error))
        assert self._templates is not None
        if self._templates.follows_data:
            self._watch_in_background(self._watch())

    async def poststart(self, handle: TaskHandle) -> None:
        """Run first scripts. A task that was found running gets its templates rendered beside it."""
        self._handle = handle
        if self._templates is None:
            self._watch_in_background(self._render_beside())
            return
        if not self._ran_first_scripts:
            self._ran_first_scripts = True
            scripts = scripts_of(self._context.task.templates or (), on_first_render=True)
            if scripts:
                self._context.spawn(self._run_scripts(scripts), name="first scripts")
        if self._untold:
            untold, self._untold = self._untold, []
            self._context.spawn(self._react(untold), name="untold changes")

    async def exited(self) -> None:
        """There is nobody to tell."""
        self._handle = None

    async def stop(self) -> None:
        """Stop following data."""
        await self._stop_watching()

    # --- its work -------------------------------------------------------------------------------------

    async def _render(self) -> list[Template]:
        templates = TaskTemplates(self._context, self._context.node.template_watches, self._tell_missing)
        try:
            await templates.read(self._context.env())
            changed = await templates.render_first()
        except BaseException:
            templates.close()
            raise
        self._templates = templates
        self._context.set_env(self.name, templates.variables)
        return changed

    async def _render_beside(self) -> None:
        """Render for a task that runs already; what is not as it was, is a change."""
        self._ran_first_scripts = True
        try:
            changed = await self._render()
        except (BadTemplateSource, TemplateTrouble) as error:
            await self._fail(str(error))
            return
        if changed:
            await self._react(changed)
        await self._watch()

    async def _watch(self) -> None:
        """Tell the task of changes, until cancelled."""
        templates = self._templates
        assert templates is not None
        while True:
            try:
                changed = await templates.next_changes()
            except TemplateTrouble as error:
                await self._fail(str(error))
                return
            self._context.set_env(self.name, templates.variables)
            await self._react(changed)

    async def _react(self, changed: Sequence[Template]) -> None:
        node = self._context.node
        splay = longest_splay(changed)
        if splay:
            await node.clock.sleep(node.rng.random() * splay / SECOND_NS)
        reaction = reaction_to(changed)
        try:
            if isinstance(reaction, RestartTask):
                self._context.restart(task_events.template_restart(self._now()))
                return
            for signal in reaction.signals:
                event = task_events.template_signal(self._now(), signal=_in_words(signal))
                await self._context.signal(event, signal)
        except TaskNotRunning:
            self._untold += changed
            return
        except DriverError as error:
            await self._fail(f"Template failed to send signals: {error}")
            return
        await self._run_scripts(reaction.scripts)

    async def _run_scripts(self, scripts: Sequence[ChangeScript]) -> None:
        await asyncio.gather(*(self._run_script(script) for script in scripts))

    async def _run_script(self, script: ChangeScript) -> None:
        handle = self._handle
        if handle is None:
            return
        shown = f"script {script.command} with arguments"
        args = f"[{' '.join(script.args or ())}]"
        try:
            code = await run_in_task(
                self._context,
                handle,
                script.command,
                script.args or (),
                timeout_s=script.timeout / SECOND_NS or SCRIPT_TIMEOUT_S_DEFAULT,
            )
        except DriverError as error:
            problem = f"Template failed to run {shown} {args} on change: {error}. Exit code: 0"
        else:
            if code == 0:
                done = f"Template successfully ran {shown}: {args}. Exit code: 0"
                self._context.emit(task_events.hook_message(self._now(), text=done))
                return
            problem = f"Template ran {shown} {args} on change but it exited with code: {code}"
        self._context.emit(task_events.hook_trouble(self._now(), text=problem))
        if script.fail_on_error:
            await self._fail("Template script failed, task is being killed")

    async def _fail(self, text: str) -> None:
        """End the task for good; whoever calls this from its life is cancelled on the way."""
        await self._context.kill(task_events.template_failure(self._now(), text=text))

    # --- details --------------------------------------------------------------------------------------

    def _tell_missing(self, text: str) -> None:
        self._context.emit(task_events.template_waits(self._now(), text=text))

    def _watch_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        self._watching = self._context.spawn(work, name="templates")
        # However it ends, nobody follows the data any more.
        self._watching.add_done_callback(lambda _done: self._close())

    def _close(self) -> None:
        if self._templates is not None:
            self._templates.close()

    async def _stop_watching(self) -> None:
        watching, self._watching = self._watching, None
        if watching is not None and watching is not asyncio.current_task():
            watching.cancel()
            await asyncio.wait((watching,))
        self._close()
        self._templates = None

    def _now(self) -> int:
        return self._context.node.clock.now_ns()


def _in_words(signal: str) -> str:
    number = signal_number(signal)
    return (signals.strsignal(number) or f"signal {number}").lower()
