"""Recorded lives of allocations, and what it takes to live them again."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import msgspec

from tests.agent.alloc_harness import RunningAlloc
from tests.agent.builders import a_job, a_task
from tests.agent.virtual_clock import VirtualClock
from yurt.model.job import Job
from yurt.model.policies import UpdateStrategy
from yurt.model.task import Task
from yurt.model.task_events import display_message
from yurt.model.task_parts import RestartPolicy, TaskLifecycle
from yurt.model.task_state import TaskEvent, TaskState
from yurt.model.times import MINUTE_NS, SECOND_NS

RECORDING = Path(__file__).parents[1] / "recordings/nomad/client/events.json"
RECORDED: dict[str, Any] = json.loads(RECORDING.read_text())

NO_RESTARTS = RestartPolicy(attempts=0)
# Tells that traps are set: a signal before that would end the shell.
UP = ': > "$NOMAD_ALLOC_DIR/$NOMAD_TASK_NAME.up"'
LOOP = f"{UP}; while :; do sleep 0.05; done"
UNTIL_INT = f'trap "exit 0" INT; {LOOP}'
UPDATE = UpdateStrategy(
    max_parallel=1,
    health_check="checks",
    min_healthy_time=10 * SECOND_NS,
    healthy_deadline=5 * MINUTE_NS,
)


def shell(script: str, name: str = "t", *, hook: str = "", sidecar: bool = False, **changes: Any) -> Task:
    lifecycle = TaskLifecycle(hook=hook, sidecar=sidecar) if hook else None
    task = a_task(
        name,
        driver="raw_exec",
        config={"command": "/bin/sh", "args": ["-c", script]},
        lifecycle=lifecycle,
        restart_policy=NO_RESTARTS,
        kill_timeout=5 * SECOND_NS,
    )
    return msgspec.structs.replace(task, **changes)


def batch(*tasks: Task, **group: object) -> Job:
    return a_job(*tasks, group=group, type="batch")


def service(*tasks: Task, **group: object) -> Job:
    return a_job(*tasks, group={"update": UPDATE, **group}, type="service")


def policy(attempts: int, delay_s: int, interval_s: int = 60, mode: str = "fail") -> RestartPolicy:
    return RestartPolicy(
        attempts=attempts, delay=delay_s * SECOND_NS, interval=interval_s * SECOND_NS, mode=mode
    )


async def until_up(alloc: RunningAlloc, *names: str) -> None:
    """Wait until tasks have told that their traps are set."""
    for name in names:
        await alloc.until_state(name, "running")
        await asyncio.to_thread(wait_for_file, f"{alloc.runner.tasks[name].dir.shared}/{name}.up")


def wait_for_file(path: str) -> None:
    while not os.path.exists(path):
        time.sleep(0.005)


def as_recorded(event: TaskEvent) -> dict[str, Any]:
    """An event in the recording's form, delays of restarts replaced."""
    shown = json.loads(msgspec.json.encode(event))
    shown["DisplayMessage"] = display_message(event)
    shown.setdefault("Details", {})
    return normalised({name: value for name, value in shown.items() if name != "Time"})


def normalised(event: dict[str, Any]) -> dict[str, Any]:
    event = {name: value for name, value in event.items() if name != "At"}
    if event.get("StartDelay"):
        event["StartDelay"] = "<delay>"
        event["Details"] = event["Details"] | {"start_delay": "<delay>"}
        event["DisplayMessage"] = re.sub(r"in [\d.]+s$", "in <delay>", event["DisplayMessage"])
    return event


def expected_tasks(recorded: dict[str, Any]) -> dict[str, Any]:
    """The recorded states of the tasks, delays of restarts replaced."""
    return {
        task: state | {"Events": [normalised(event) for event in state["Events"]]}
        for task, state in recorded["Tasks"].items()
    }


def shown(state: TaskState, *, left_out: frozenset[str] | set[str] = frozenset()) -> dict[str, Any]:
    """A task's state in the recording's form."""
    return {
        "State": state.state,
        "Failed": state.failed,
        "Restarts": state.restarts,
        "Events": [as_recorded(event) for event in state.events or () if event.type not in left_out],
    }


async def pass_until_over(run: RunningAlloc, clock: VirtualClock) -> None:
    while not run.runner.is_over:
        await clock.advance(1)
        await asyncio.sleep(0.01)
