"""All steps around an allocation's run, in order."""

from __future__ import annotations

from yurt.agent.alloc_runner.hook import HookFactory
from yurt.agent.alloc_runner.hooks import (
    alloc_dir,
    checks,
    consul_services,
    group_services,
    network,
    previous_alloc,
)

HOOKS: tuple[HookFactory, ...] = (
    alloc_dir.make,
    previous_alloc.make,
    network.make,
    group_services.make,
    consul_services.make,
    checks.make,
)
