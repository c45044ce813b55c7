"""A thousand short allocations on one node leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.support.real_agent import RealAgent, running_agent

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="wants root")
COUNTS = {"raw_exec": 1000, "exec": 50, "docker": 20}
WAIT_S_MAX = 180.0
CGROUPS = Path("/sys/fs/cgroup")
PARENT = f"yurt-thousand-{os.getpid()}"


@pytest.fixture(scope="module")
def daemon() -> Iterator[DockerDaemon]:
    daemon = DockerDaemon(Path(tempfile.mkdtemp(prefix="yurt-docker-")))
    try:
        daemon.start()
        asyncio.run(daemon.add_image(IMAGE, "ENV PATH=/bin:/usr/bin"))
        yield daemon
    finally:
        daemon.remove()


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory, daemon: DockerDaemon) -> Iterator[RealAgent]:
    more = f"""
client {{
  cgroup_parent        = "{PARENT}"
  gc_parallel_destroys = 8
}}
plugin "docker" {{
  config {{
    endpoint = "{daemon.endpoint}"
  }}
}}
"""
    with running_agent(tmp_path_factory.mktemp("agent"), more_config=more) as agent:
        yield agent
    for folder in _groups():
        folder.rmdir()


def a_job(driver: str, name: str, count: int) -> dict[str, Any]:
    config = {"command": "/bin/true"} | ({"image": IMAGE} if driver == "docker" else {})
    task = {
        "Name": "t",
        "Driver": driver,
        "Config": config,
        "Resources": {"CPU": 1, "MemoryMB": 10},
        "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
    }
    group = {"Name": "g", "Count": count, "EphemeralDisk": {"SizeMB": 10}, "Tasks": [task]}
    return {"ID": name, "Name": name, "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": [group]}


def run_to_the_end(agent: RealAgent, suffix: str, counts: dict[str, int]) -> None:
    """Run jobs of all drivers at once, and forget them with all their allocations."""
    for driver, count in counts.items():
        answer = agent.call("PUT", "/v1/jobs", {"Job": a_job(driver, f"{driver}-{suffix}", count)})
        assert answer.status == 200, answer.text
    for driver, count in counts.items():
        name = f"{driver}-{suffix}"
        done = agent.wait_for(
            f"/v1/job/{name}/summary",
            lambda told, count=count: told["Summary"]["g"]["Complete"] == count,
            timeout_s=WAIT_S_MAX,
        )
        assert done["Summary"]["g"]["Failed"] == 0
        assert agent.call("DELETE", f"/v1/job/{name}?purge=true").status == 200
    agent.call("PUT", "/v1/system/gc")
    alloc_dir = agent.directory / "data/alloc"
    wait_until(lambda: not _alloc_dirs(alloc_dir), "all directories are gone")


def _alloc_dirs(alloc_dir: Path) -> list[Path]:
    return [path for path in alloc_dir.iterdir() if not path.name.startswith(".")]


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + WAIT_S_MAX
    while not is_so():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.1)  # what is left of tasks is gone some time after they are


class Traces:
    """What allocations could leave on the machine."""

    def __init__(self, agent: RealAgent, daemon: DockerDaemon) -> None:
        own = str(agent.directory)
        self.descriptors = len(os.listdir(f"/proc/{agent.pid}/fd"))
        self.processes = sum(1 for path in Path("/proc").glob("[0-9]*") if own in _told_of(path))
        self.mounts = sum(own in line for line in Path("/proc/mounts").read_text().splitlines())
        self.groups = sum(1 for folder in _groups() if ".t" in folder.name)
        self.records = len(list((agent.directory / "data/client/launcher/tasks").glob("[0-9a-f]*")))
        self.bundles = len(list((agent.directory / "data/client/launcher").glob("containers/*")))
        self.containers = len(asyncio.run(daemon.containers()))

    def without_descriptors(self) -> dict[str, int]:
        return {name: count for name, count in vars(self).items() if name != "descriptors"}


def _groups() -> list[Path]:
    """The agent's control groups, the deepest first; those of other agents come and go beside them."""
    roots = [*CGROUPS.glob(f"*/{PARENT}"), CGROUPS / PARENT]
    return [Path(folder) for root in roots for folder, _, _ in os.walk(root, topdown=False)]


def _told_of(process: Path) -> str:
    try:
        return ((process / "environ").read_bytes() + (process / "cmdline").read_bytes()).decode(
            errors="replace"
        )
    except OSError:
        return ""


def test_a_thousand_short_allocations_leave_nothing_behind(agent: RealAgent, daemon: DockerDaemon) -> None:
    # What is made once, at the first start, is no leak.
    run_to_the_end(agent, "first", dict.fromkeys(COUNTS, 2))
    before = Traces(agent, daemon)

    run_to_the_end(agent, "many", COUNTS)

    wait_until(
        lambda: Traces(agent, daemon).without_descriptors() == before.without_descriptors(),
        f"{vars(before)} again",
    )
    # Connections of callers and threads come and go; a leak would be one for each allocation.
    assert Traces(agent, daemon).descriptors < before.descriptors + 50
