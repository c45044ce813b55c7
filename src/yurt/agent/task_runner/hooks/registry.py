"""All steps around a task's run, in the order in which they prepare its start."""

from __future__ import annotations

from yurt.agent.task_runner.hook import HookFactory, TaskContext, TaskHook
from yurt.agent.task_runner.hooks import (
    artifacts,
    consul_services,
    devices,
    dispatch_payload,
    identity,
    secrets,
    services,
    task_api,
    task_dir,
    validate,
    volumes,
)


def _template(context: TaskContext) -> TaskHook | None:
    """Only tasks with templates need it, and all that their functions bring along."""
    if not context.task.templates:
        return None
    from yurt.agent.task_runner.hooks.template import TemplateHook  # noqa: PLC0415

    return TemplateHook(context)


HOOKS: tuple[HookFactory, ...] = (
    validate.make,
    task_dir.make,
    identity.make,
    task_api.make,
    secrets.make,
    dispatch_payload.make,
    volumes.make,
    artifacts.make,
    devices.make,
    _template,
    services.make,
    consul_services.make,
)
