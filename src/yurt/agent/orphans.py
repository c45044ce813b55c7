"""Tasks that still run although nobody knows them any more."""

from __future__ import annotations

from collections.abc import Iterable, Set

from yurt.agent.launcher import LauncherClient, TaskKey
from yurt.agent.state_db import StoredAlloc
from yurt.observe.logger import get_logger

# A task that is taken up without memory of it starts with this number, and so finds itself running.
FIRST_ATTEMPT = 1
# Commands that run beside a task are numbered by the time, in nanoseconds; no task is started so often.
BESIDE_ATTEMPT_MIN = 10**18

logger = get_logger("agent")


def unknown_keys(keys: Iterable[TaskKey], stored: Iterable[StoredAlloc]) -> list[TaskKey]:
    """The keys of the launcher that no stored task accounts for."""
    known = {
        (allocated.record.alloc.id, task, record.attempt)
        for allocated in stored
        for task, record in allocated.tasks.items()
    }
    return [key for key in keys if (key.alloc_id, key.task, key.attempt) not in known]


def is_beside_task(key: TaskKey) -> bool:
    """Whether a key is that of a command beside a task, whose caller went with the agent that started it."""
    return key.attempt >= BESIDE_ATTEMPT_MIN


async def end_orphans(launcher: LauncherClient, keys: Iterable[TaskKey], live_allocs: Set[str]) -> None:
    """Kill tasks of which neither the servers nor this agent's memory know; it happens when that was lost.

    `keys` are those found unknown at the agent's start, `live_allocs` the allocations placed here.
    """
    for key in keys:
        if key.alloc_id in live_allocs and key.attempt == FIRST_ATTEMPT:
            continue
        logger.warning("task.orphaned", alloc_id=key.alloc_id, task=key.task, attempt=key.attempt)
        task = await launcher.attach(key)
        if task is not None:
            await task.kill_now()
        launcher.forget(key)
