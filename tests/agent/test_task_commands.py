"""Commands run beside a task, as it would run them itself."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tests.agent.alloc_harness import RunningAlloc, a_node_context
from tests.agent.builders import ALLOC_ID, a_job, a_task, an_alloc
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.drivers import FsIsolation
from yurt.agent.drivers.mock import MockDriver, MockOptions
from yurt.agent.network.group_network import GroupNetwork
from yurt.agent.network.namespaces import make_namespace, namespace_path, remove_namespace
from yurt.agent.task_commands import CommandFailed, run_in_task
from yurt.agent.task_runner.runner import TaskRunner
from yurt.model.wire import AllocID

LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]
Work = Callable[[TaskRunner, VirtualClock], Coroutine[Any, Any, None]]


def with_a_task(
    tmp_path: Path,
    work: Work,
    *,
    loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    isolation: FsIsolation = FsIsolation.NONE,
    user: str = "",
) -> None:
    """Do something with a task that runs."""

    async def run() -> None:
        clock = VirtualClock()
        mock = MockDriver(clock, MockOptions(fs_isolation=isolation))
        node = a_node_context(tmp_path, clock, drivers={"mock_driver": mock})
        task = a_task(config={"run_for": "1h"}, user=user, env={"GREETING": "hello"})
        made = RunningAlloc(an_alloc(a_job(task)), node, None)
        running = asyncio.create_task(made.runner.run())
        try:
            await made.until_state("t", "running")
            await work(made.runner.tasks["t"], clock)
        finally:
            running.cancel()
            await asyncio.wait({running})
            node.dirs.destroy(AllocID(ALLOC_ID))

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())


async def sh(task: TaskRunner, script: str, *, timeout_s: float = 60) -> int:
    assert task.handle is not None
    return await run_in_task(task, task.handle, "sh", ["-c", script], timeout_s=timeout_s)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_command_sees_what_its_task_sees(
    tmp_path: Path, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def work(task: TaskRunner, _clock: VirtualClock) -> None:
        assert await sh(task, 'echo "$GREETING $NOMAD_TASK_NAME" > local/said; exit 3') == 3
        assert await asyncio.to_thread(Path(task.dir.local, "said").read_text) == "hello t\n"
        assert await sh(task, "kill -9 $$") == 137

    with_a_task(tmp_path, work, loop=loop)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run commands as others")
@pytest.mark.parametrize("loop", LOOPS)
def test_a_command_runs_as_its_tasks_user(
    tmp_path: Path, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def work(task: TaskRunner, _clock: VirtualClock) -> None:
        assert await sh(task, '[ "$(id -un)" = nobody ]') == 0

    with_a_task(tmp_path, work, loop=loop, user="nobody")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make networks")
@pytest.mark.parametrize("user", ["", "nobody"])
def test_a_command_is_in_its_tasks_network(tmp_path: Path, user: str) -> None:
    path = namespace_path(f"yurt-test-{os.getpid()}")
    make_namespace(path)

    async def work(task: TaskRunner, _clock: VirtualClock) -> None:
        task.network = GroupNetwork(namespace=path)
        assert await sh(task, "ls /sys/class/net; cut -d: -f1 /proc/net/dev > local/seen") == 0
        seen = await asyncio.to_thread(Path(task.dir.local, "seen").read_text)
        assert [line.strip() for line in seen.splitlines()[2:]] == ["lo"]

    try:
        with_a_task(tmp_path, work, user=user)
    finally:
        remove_namespace(path)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_command_that_takes_too_long_is_ended(
    tmp_path: Path, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def work(task: TaskRunner, clock: VirtualClock) -> None:
        running = asyncio.create_task(sh(task, "echo $$ > local/pid; sleep 1000", timeout_s=5))
        pid = await asyncio.to_thread(wait_for_text, Path(task.dir.local, "pid"))
        await clock.advance(5)
        with pytest.raises(CommandFailed, match="not done within 5 s"):
            await running
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)

    with_a_task(tmp_path, work, loop=loop)


def wait_for_text(path: Path) -> str:
    while not path.exists() or not path.read_text():
        time.sleep(0.005)
    return path.read_text()


def test_commands_that_cannot_be_run(tmp_path: Path) -> None:
    async def work(task: TaskRunner, _clock: VirtualClock) -> None:
        assert task.handle is not None
        with pytest.raises(CommandFailed, match="fork/exec /nope: no such file or directory"):
            await run_in_task(task, task.handle, "/nope", [], timeout_s=5)

    with_a_task(tmp_path, work)


def test_a_driver_with_its_own_files_must_run_commands_itself(tmp_path: Path) -> None:
    async def work(task: TaskRunner, _clock: VirtualClock) -> None:
        with pytest.raises(CommandFailed, match='driver "mock_driver" cannot run commands'):
            await sh(task, "true")

    with_a_task(tmp_path, work, isolation=FsIsolation.IMAGE)
