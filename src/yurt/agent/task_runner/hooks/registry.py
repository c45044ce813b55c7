"""All steps around a task's run, in the order in which they prepare its start."""

from __future__ import annotations

from yurt.agent.task_runner.hook import HookFactory
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
    template,
    validate,
    volumes,
)

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
    template.make,
    services.make,
    consul_services.make,
)
