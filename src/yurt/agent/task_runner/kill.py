"""End a task whose driver may refuse at first."""

from __future__ import annotations

import asyncio

from yurt.agent.drivers import DriverError, ExitResult, TaskHandle
from yurt.agent.node_context import NodeContext
from yurt.observe.logger import get_logger

# A refused stop is asked for again after 5 s, 20 s, 80 s and 2 minutes.
KILL_TRIES_MAX = 5
KILL_RETRY_S = 5.0
KILL_RETRY_FACTOR = 4
KILL_RETRY_S_MAX = 120.0

logger = get_logger("task_runner")


async def kill_persistently(
    handle: TaskHandle,
    ended: asyncio.Future[ExitResult],
    *,
    signal: str,
    timeout_s: float,
    node: NodeContext,
) -> None:
    """Kill the task until its driver does it, it ends by itself (`ended`), or all tries are used up."""
    pause_s = KILL_RETRY_S
    for tries_left in reversed(range(KILL_TRIES_MAX)):
        try:
            await handle.kill(signal, timeout_s)
        except DriverError as error:
            logger.warning("task.kill_failed", tries_left=tries_left, error=str(error))
        else:
            return
        if not tries_left or not await node.sleep_until_done(pause_s, ended):
            return
        pause_s = min(pause_s * KILL_RETRY_FACTOR, KILL_RETRY_S_MAX)
