"""Recorded lives of tasks with templates happen again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.agent.alloc_harness import RunningAlloc, a_node_context, running
from tests.agent.builders import an_alloc
from tests.agent.recorded_lives import (
    RECORDED,
    UP,
    batch,
    expected_tasks,
    pass_until_over,
    service,
    shell,
    shown,
    until_up,
)
from tests.agent.templates.fake_data import FakeData
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.launcher import LauncherClient
from yurt.agent.templates.changes import scripts_of
from yurt.model.job import Job
from yurt.model.task_parts import ChangeScript, Template
from yurt.model.times import SECOND_NS

Action = Callable[[RunningAlloc, VirtualClock, FakeData], Awaitable[None]]

# As recorded, the task does not end by itself, and ends at once when it is told to.
LASTING = f"{UP}; while :; do sleep 0.05; done"
FOLLOWING = '{{ with nomadVar "nomad/jobs/cm" }}{{ .v }}{{ end }}'


def a_template(data: str = "", **changes: Any) -> Template:
    made = Template(embedded_tmpl=data, dest_path="local/x", splay=5 * SECOND_NS)
    return msgspec.structs.replace(made, **changes)


def failing(data: str = "", **changes: Any) -> Job:
    return batch(shell("true", templates=(a_template(data, **changes),)))


def following(mode: str, trap: str = "", **changes: Any) -> Job:
    """A job whose file follows a variable."""
    template = a_template(FOLLOWING, dest_path="local/v", change_mode=mode, splay=0, **changes)
    return service(shell(f"{trap}{LASTING}", templates=(template,)))


def script(command: str, *args: str, **changes: Any) -> ChangeScript:
    return ChangeScript(command=command, args=args, timeout=5 * SECOND_NS, **changes)


async def until_over(alloc: RunningAlloc, _clock: VirtualClock, _data: FakeData) -> None:
    await alloc.until_over()


async def change(alloc: RunningAlloc, clock: VirtualClock, data: FakeData) -> None:
    """Change the variable of a running, healthy task, and let the new value settle."""
    await until_up(alloc, "t")
    runner = alloc.runner.tasks["t"]
    first = scripts_of(runner.task.templates or (), on_first_render=True)
    await alloc.until(lambda: alloc.kinds().count("Task hook message") == len(first))
    await clock.advance(11)
    data.put_variable("nomad/jobs/cm", v="2")
    while content(f"{runner.dir.local}/v") != "2":
        await clock.advance(1)
        await asyncio.sleep(0.005)


def content(path: str) -> str:
    return Path(path).read_text()


def until_kind(kind: str, times: int = 1) -> Action:
    """Change the variable, then wait for an event."""

    async def act(alloc: RunningAlloc, clock: VirtualClock, data: FakeData) -> None:
        await change(alloc, clock, data)
        await alloc.until(lambda: alloc.kinds().count(kind) == times)

    return act


async def change_and_end(alloc: RunningAlloc, clock: VirtualClock, data: FakeData) -> None:
    await change(alloc, clock, data)
    await alloc.until_over()


async def wait_for_nothing(alloc: RunningAlloc, clock: VirtualClock, _data: FakeData) -> None:
    await alloc.until(lambda: "Task Setup" in alloc.kinds())
    while "Template" not in alloc.kinds():
        await clock.advance(1)
        await asyncio.sleep(0.005)


SCENARIOS: dict[str, tuple[Job, Action]] = {
    "template-bad-env-line": (failing("9BAD=1", envvars=True), until_over),
    "template-change-noop": (following("noop"), change),
    "template-change-restart": (following("restart"), until_kind("Started", 2)),
    "template-change-script": (
        following("script", change_script=script("/bin/sh", "-c", "echo ran; exit 0")),
        until_kind("Task hook message"),
    ),
    "template-change-script-fails": (
        following("script", change_script=script("/bin/sh", "-c", "echo bad; exit 3", fail_on_error=True)),
        change_and_end,
    ),
    "template-change-script-missing": (
        following("script", change_script=script("/nope")),
        until_kind("Task hook failed"),
    ),
    "template-change-signal": (
        following("signal", 'trap "echo HUP" HUP; ', change_signal="SIGHUP"),
        until_kind("Signaling"),
    ),
    "template-denied-function": (failing('{{ plugin "x" }}'), until_over),
    "template-exec-error": (failing('{{ index (split "," "a") 5 }}'), until_over),
    "template-missing-data": (
        failing(
            '{{ with nomadVar "nomad/jobs/nope" }}{{ .x }}{{ end }}'
            '{{ with nomadVar "nomad/jobs" }}{{ .x }}{{ end }}'
        ),
        wait_for_nothing,
    ),
    "template-missing-key": (failing('{{ ("{}" | parseJSON).zz }}', err_missing_key=True), until_over),
    "template-missing-source": (failing(source_path="local/none.tmpl"), until_over),
    "template-parse-error": (failing("{{ nosuchfunc }}"), until_over),
    "template-script-first-render": (
        following("script", change_script=script("/bin/sh", "-c", "echo first", run_on_first_render=True)),
        until_kind("Task hook message", 2),
    ),
    "template-source-and-data": (failing("x", source_path="local/none.tmpl"), until_over),
}


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[LauncherClient]:
    client = LauncherClient(tmp_path / "launcher")
    yield client
    await client.shutdown(kill_tasks=True)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_scenario(name: str, tmp_path: Path, launcher: LauncherClient) -> None:
    job, act = SCENARIOS[name]
    recorded = RECORDED[name]
    clock = VirtualClock()
    raw_exec = RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=None)
    node = a_node_context(tmp_path, clock, drivers={"raw_exec": raw_exec})
    data = FakeData().attach(node)
    data.put_variable("nomad/jobs/cm", v="1")
    alloc = an_alloc(job, create_time=clock.now_ns(), deployment_id="d" if job.type == "service" else "")

    async with running(alloc, node) as run:
        await act(run, clock, data)
        seen = {task: shown(state) for task, state in run.runner.states.items()}
        status, health = run.status, run.runner.health
        run.runner.stop()
        await asyncio.wait_for(pass_until_over(run, clock), 60)

    paths = {f"{node.dirs.path(alloc.id).parent}": "<alloc_dir>", alloc.id: "<alloc id>"}
    assert with_names(seen, paths) == expected_tasks(recorded)
    assert status == (recorded["ClientStatus"], recorded["ClientDescription"])
    if "Healthy" in recorded:
        assert health is recorded["Healthy"]


def with_names(value: Any, names: dict[str, str]) -> Any:
    """A value with names for what differs from run to run."""
    text = json.dumps(value)
    for found, name in names.items():
        text = text.replace(found, name)
    return json.loads(text)
