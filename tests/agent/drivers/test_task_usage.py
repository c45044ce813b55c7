"""What tasks use, measured while they use it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.agent.drivers.specs import a_spec, shell
from tests.agent.launcher.real_tasks import Mailbox
from yurt.agent.drivers import Driver, TaskHandle, TaskResources
from yurt.agent.drivers.cgroups import CgroupTree
from yurt.agent.drivers.docker import DockerDriver, DockerOptions
from yurt.agent.drivers.exec import ExecDriver, Isolation, IsolationOptions
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.drivers.usage import CpuRates, CpuTimes, Measured
from yurt.agent.launcher import LauncherClient
from yurt.clock import SystemClock
from yurt.model.resource_usage import TaskResourceUsage, alloc_usage, with_ticks
from yurt.model.times import SECOND_NS

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="wants root")
MIB = 1 << 20
# Works a while, then holds 20 MiB in a child of its own, and says so.
GREEDY = (
    "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done;"
    " (x=$(seq 3000000); echo ready > $MAILBOX; sleep 1000; echo ${#x}) & wait"
)


@pytest.fixture
def task_dir(tmp_path: Path) -> Path:
    for name in ("task/local", "task/tmp", "task/secrets", "alloc", "logs"):
        (tmp_path / "alloc" / name).mkdir(parents=True)
    return tmp_path / "alloc/task"


@pytest.fixture(params=["raw_exec", "exec", "docker"])
def driver(launcher: LauncherClient, cgroup_tree: CgroupTree, request: pytest.FixtureRequest) -> Driver:
    if request.param == "raw_exec":
        return RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=cgroup_tree)
    if request.param == "docker":
        daemon: DockerDaemon = request.getfixturevalue("clean")
        return DockerDriver(launcher, SystemClock(), DockerOptions(endpoint=daemon.endpoint))
    return ExecDriver(Isolation(launcher, IsolationOptions(), cgroup_tree))


@pytest.fixture
async def greedy(driver: Driver, task_dir: Path) -> AsyncIterator[TaskHandle]:
    mailbox = Mailbox(task_dir / "local/mailbox")
    os.chmod(mailbox.path, 0o666)
    env = {"PATH": os.environ["PATH"], "MAILBOX": "/local/mailbox"}
    resources = TaskResources(cpu_shares=100, memory_mb=100)
    spec = shell(task_dir, GREEDY, env=env, resources=resources, shared_dir=str(task_dir.parent / "alloc"))
    if driver.name == "raw_exec":
        spec = shell(task_dir, GREEDY, env={**env, "MAILBOX": mailbox.path}, resources=resources)
    if driver.name == "docker":
        config = {"image": IMAGE, "command": "/bin/sh", "args": ["-c", GREEDY]}
        spec = a_spec(task_dir, config, env=env, resources=resources, shared_dir=spec.shared_dir)
    handle = await driver.start(spec)
    await mailbox.receive()
    yield handle
    await handle.destroy()
    mailbox.close()


async def measured(handle: TaskHandle) -> TaskResourceUsage:
    assert isinstance(handle, Measured)
    usage = await handle.usage()
    assert usage is not None
    return usage


async def test_memory_and_compute_are_those_of_the_whole_task(greedy: TaskHandle, driver: Driver) -> None:
    usage = await measured(greedy)
    memory, cpu = usage.resource_usage.memory_stats, usage.resource_usage.cpu_stats

    assert 20 * MIB <= memory.rss < 100 * MIB
    assert cpu.percent == pytest.approx(cpu.user_mode + cpu.system_mode)
    assert cpu.percent > 0, "it has worked since its start"
    assert memory.measured is not None
    assert cpu.measured is not None
    if driver.name == "raw_exec":
        assert memory.measured == ("RSS", "Swap")
        assert cpu.measured == ("System Mode", "User Mode", "Percent")
    else:
        assert {"RSS", "Cache", "Swap", "Usage"} <= set(memory.measured)
        assert memory.usage >= memory.rss
        assert {"Throttled Periods", "Throttled Time"} <= set(cpu.measured)
    if driver.name == "docker":
        assert usage.pids is None
    else:
        assert usage.pids is not None
        assert len(usage.pids) >= 2
        assert max(one.memory_stats.rss for one in usage.pids.values()) >= 20 * MIB


async def test_compute_is_that_since_the_last_look(greedy: TaskHandle) -> None:
    before = (await measured(greedy)).resource_usage.cpu_stats.percent
    again = (await measured(greedy)).resource_usage.cpu_stats.percent
    assert again < before, "it sleeps now"


async def test_a_task_that_has_ended_uses_nothing(
    launcher: LauncherClient, cgroup_tree: CgroupTree, task_dir: Path
) -> None:
    driver = RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=cgroup_tree)
    handle = await driver.start(shell(task_dir, "true"))
    await handle.wait()
    assert await handle.usage() is None
    await handle.destroy()


def test_percents_are_of_one_core() -> None:
    rates = CpuRates()
    first = rates.rate("a", CpuTimes(SECOND_NS, 0), now=2 * SECOND_NS, since=0)
    assert (first.user_mode, first.percent) == (50.0, 50.0)
    second = rates.rate("a", CpuTimes(SECOND_NS, 3 * SECOND_NS), now=4 * SECOND_NS, since=0)
    assert (second.system_mode, second.percent) == (150.0, 150.0)
    rates.keep(["b"])
    assert rates.rate("a", CpuTimes(SECOND_NS, 0), now=SECOND_NS, since=0).percent == 100.0


async def test_an_allocation_uses_what_its_tasks_use(greedy: TaskHandle) -> None:
    usage = await measured(greedy)
    total = alloc_usage({"a": usage, "b": usage})
    memory = usage.resource_usage.memory_stats

    assert total.resource_usage.memory_stats.rss == 2 * memory.rss
    assert total.resource_usage.memory_stats.measured == memory.measured
    assert total.timestamp == usage.timestamp
    ticks = with_ticks(usage.resource_usage, 2000.0).cpu_stats
    assert ticks.total_ticks == pytest.approx(ticks.percent * 20.0)
