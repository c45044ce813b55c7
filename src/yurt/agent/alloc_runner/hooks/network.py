"""Give the allocation its network."""

from __future__ import annotations

from yurt.agent.alloc_runner.context import AllocContext
from yurt.agent.alloc_runner.hook import AllocHook, SetupFailed

HOST_MODES = ("", "host")


class NetworkHook(AllocHook):
    """Refuses networks that this agent cannot make: a task must not run on the host's by mistake."""

    name = "network"

    def __init__(self, mode: str) -> None:
        self._mode = mode

    async def prerun(self) -> None:
        """Fail, naming the mode."""
        raise SetupFailed(f'network mode "{self._mode}" is not supported on this node; use "host"')


def make(context: AllocContext) -> AllocHook | None:
    """On the host's own network there is nothing to do."""
    modes = [network.mode for network in context.group.networks or () if network.mode not in HOST_MODES]
    return NetworkHook(modes[0]) if modes else None
