"""Drivers for each test, with all they started ended afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.agent.launcher.real_tasks import Mailbox
from yurt.agent.drivers.cgroups import CgroupTree, find_cgroups
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.launcher import LauncherClient

EVENTS = Path(__file__).parents[2] / "recordings/nomad/client/events.json"


@pytest.fixture(scope="session")
def recorded_events() -> dict[str, Any]:
    """What Nomad told, by scenario."""
    return dict(json.loads(EVENTS.read_text()))


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[LauncherClient]:
    client = LauncherClient(tmp_path / "launcher")
    yield client
    await client.shutdown(kill_tasks=True)


@pytest.fixture
def raw_exec(launcher: LauncherClient) -> RawExecDriver:
    return RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=None)


@pytest.fixture(scope="session")
def cgroup_tree() -> Iterator[CgroupTree]:
    """The machine's control groups, where they can be written."""
    tree = find_cgroups(parent=f"yurt-tests-{os.getpid()}")
    if tree is None:
        pytest.skip("this machine's control groups cannot be written")
    yield tree
    # Deepest first; a folder of version 1 is in each controller's tree. Those of others come and go.
    for top in (Path(tree.mount, tree.parent), *Path(tree.mount).glob(f"*/{tree.parent}")):
        for folder in sorted(top.glob("**/"), reverse=True):
            folder.rmdir()


@pytest.fixture
def limited_raw_exec(launcher: LauncherClient, cgroup_tree: CgroupTree) -> RawExecDriver:
    return RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=cgroup_tree)


@pytest.fixture
def task_dir(tmp_path: Path) -> Path:
    for name in ("task/local", "logs"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "task"


@pytest.fixture
def mailbox(tmp_path: Path) -> Iterator[Mailbox]:
    mailbox = Mailbox(tmp_path / "mailbox")
    yield mailbox
    mailbox.close()


@pytest.fixture
def alloc_task_dir(tmp_path: Path) -> Path:
    """The directory of a docker task, beside those of its alloc."""
    for name in ("alloc/task/local", "alloc/task/secrets", "alloc/alloc/logs", "alloc/logs"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path / "alloc/task"


@pytest.fixture(scope="session")
def daemon() -> Iterator[DockerDaemon]:
    # Not in pytest's folder, which is deleted much later: Docker leaves mounts that must go before.
    daemon = DockerDaemon(Path(tempfile.mkdtemp(prefix="yurt-docker-")))
    try:
        daemon.start()
        asyncio.run(daemon.add_image(IMAGE, "ENV PATH=/bin:/usr/bin"))
        yield daemon
    finally:
        daemon.remove()


@pytest.fixture
async def clean(daemon: DockerDaemon) -> AsyncIterator[DockerDaemon]:
    """The daemon, with no container left afterwards."""
    yield daemon
    for container_id in await daemon.containers():
        await daemon.engine.delete(f"/containers/{container_id}", force="true", v="true")
