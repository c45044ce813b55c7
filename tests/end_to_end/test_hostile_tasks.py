"""Tasks that do their worst: each is held to its limits, ended and explained, while the node works on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.support.real_agent import RealAgent, running_agent

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="wants root")
PIDS_MAX = 60
WAIT_S_MAX = 60.0


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
    plugins = f"""
plugin "exec" {{
  config {{
    pids_limit = {PIDS_MAX}
  }}
}}
plugin "docker" {{
  config {{
    endpoint   = "{daemon.endpoint}"
    pids_limit = {PIDS_MAX}
  }}
}}
"""
    with running_agent(tmp_path_factory.mktemp("agent"), more_config=plugins) as agent:
        yield agent


def run_job(agent: RealAgent, name: str, driver: str, script: str, **task: Any) -> str:
    """Register a batch job that runs a script; returns the id of its allocation once it is placed."""
    config: dict[str, Any] = {"command": "/bin/sh", "args": ["-c", script]}
    if driver == "docker":
        config["image"] = IMAGE
    tasks = [
        {
            "Name": "t",
            "Driver": driver,
            "Config": config,
            "Resources": {"CPU": 100, "MemoryMB": 40},
            "RestartPolicy": {"Attempts": 0, "Mode": "fail", "Interval": 60 * 10**9, "Delay": 10**9},
            "LogConfig": {"MaxFiles": 2, "MaxFileSizeMB": 1},
            **task,
        }
    ]
    group = {
        "Name": "g",
        "EphemeralDisk": {"SizeMB": 20},
        "Tasks": tasks,
        "ReschedulePolicy": {"Attempts": 0},
    }
    job = {"ID": name, "Name": name, "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": [group]}
    answer = agent.call("PUT", "/v1/jobs", {"Job": job})
    assert answer.status == 200, answer.text
    return str(agent.wait_for(f"/v1/job/{name}/allocations", bool)[0]["ID"])


def wait_for_status(agent: RealAgent, alloc_id: str, *wanted: str) -> dict[str, Any]:
    found: dict[str, Any] = agent.wait_for(
        f"/v1/allocation/{alloc_id}", lambda alloc: alloc["ClientStatus"] in wanted, timeout_s=WAIT_S_MAX
    )
    return found


def assert_works_on(agent: RealAgent, name: str) -> None:
    """Another job runs to its end beside the hostile one."""
    alloc_id = run_job(agent, f"{name}-other", "raw_exec", "true")
    wait_for_status(agent, alloc_id, "complete")


def stop(agent: RealAgent, name: str, alloc_id: str) -> dict[str, Any]:
    assert agent.call("DELETE", f"/v1/job/{name}").status == 200
    return wait_for_status(agent, alloc_id, "complete", "failed")


def events(alloc: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = alloc["TaskStates"]["t"]["Events"]
    return found


def event(alloc: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(one for one in events(alloc) if one["Type"] == kind)


def processes_of(alloc_id: str) -> list[int]:
    """The live processes of an allocation, found by what the launcher and the kernel know of them."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            told = (path / "environ").read_bytes() + (path / "cgroup").read_bytes()
            is_zombie = (path / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if alloc_id.encode() in told and not is_zombie:
            found.append(int(path.name))
    return found


def wait_until(is_so: Any, what: str) -> None:
    end = time.monotonic() + WAIT_S_MAX
    while not is_so():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.02)  # there is nothing to wait for but the state of other processes


@pytest.mark.parametrize("driver", ["exec", "docker"])
def test_a_fork_bomb_is_held_to_its_pids(agent: RealAgent, driver: str) -> None:
    name = f"bomb-{driver}"
    # The first process does not fork any more itself: it would fail, too, and end the task.
    bomb = "echo begun; f() { f | f & }; f & exec sleep 1000"
    alloc_id = run_job(agent, name, driver, bomb, KillTimeout=500_000_000)
    logs = f"/v1/client/fs/logs/{alloc_id}?task=t&type=stderr&plain=true"
    wait_until(lambda: "fork" in agent.call("GET", logs).text, "it cannot fork any more")

    if driver == "exec":
        assert len(processes_of(alloc_id)) <= PIDS_MAX + 1
    assert_works_on(agent, name)

    alloc = stop(agent, name, alloc_id)
    wait_until(lambda: not processes_of(alloc_id), "all its processes are gone")
    assert [one["Type"] for one in events(alloc)][-3:] == ["Killing", "Terminated", "Killed"]


@pytest.mark.parametrize(("driver", "is_told"), [("exec", True), ("docker", True), ("raw_exec", False)])
def test_a_memory_hog_is_killed_and_told_so(agent: RealAgent, driver: str, is_told: bool) -> None:
    alloc_id = run_job(agent, f"hog-{driver}", driver, "x=$(seq 100000000); :")

    alloc = wait_for_status(agent, alloc_id, "failed")

    ended = event(alloc, "Terminated")
    assert ended["Details"]["exit_code"] == "137"
    # Nomad does not tell it of raw_exec tasks, and jobs are written for its answer.
    assert ended["Details"]["oom_killed"] == ("true" if is_told else "false")
    if driver == "docker":
        assert "OOM Killed" in ended["DisplayMessage"]
    assert_works_on(agent, f"hog-{driver}")


def test_zombies_are_reaped_or_go_with_their_maker(agent: RealAgent) -> None:
    maker = "import os, time\nfor _ in range(300):\n    if os.fork() == 0: os._exit(0)\n"
    # These have no parent any more, so the supervisor takes them.
    maker += "for _ in range(300):\n    if os.fork() == 0:\n        if os.fork() == 0: os._exit(0)\n"
    maker += "        os._exit(0)\nprint('made', flush=True)\ntime.sleep(1000)\n"
    config = {"command": sys.executable, "args": ["-c", maker]}
    alloc_id = run_job(agent, "zombies", "raw_exec", "", Config=config)
    logs = f"/v1/client/fs/logs/{alloc_id}?task=t&type=stdout&plain=true"
    wait_until(lambda: "made" in agent.call("GET", logs).text, "the zombies are made")
    stats = agent.call("GET", f"/v1/client/allocation/{alloc_id}/stats").json
    [maker_pid] = [int(pid) for pid in stats["Tasks"]["t"]["Pids"] if _parent_name(int(pid)) == "yurt-task"]
    supervisor = _stat(maker_pid)[1]

    wait_until(lambda: _children(int(supervisor)) == [maker_pid], "orphans are reaped")
    assert_works_on(agent, "zombies")

    stop(agent, "zombies", alloc_id)
    wait_until(lambda: not Path(f"/proc/{maker_pid}").exists(), "the maker is gone, and its zombies")


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _parent_name(pid: int) -> str:
    try:
        return Path(f"/proc/{_stat(pid)[1]}/comm").read_text().strip()
    except OSError:
        return ""


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("driver", ["raw_exec", "exec", "docker"])
def test_a_task_that_ignores_signals_is_killed_after_its_time(agent: RealAgent, driver: str) -> None:
    name = f"deaf-{driver}"
    deaf = "trap '' INT TERM HUP; echo deaf; while :; do sleep 0.05; done"
    alloc_id = run_job(agent, name, driver, deaf, KillTimeout=500_000_000)
    logs = f"/v1/client/fs/logs/{alloc_id}?task=t&type=stdout&plain=true"
    wait_until(lambda: "deaf" in agent.call("GET", logs).text, "it has stopped its ears")

    alloc = stop(agent, name, alloc_id)

    assert event(alloc, "Killing")["Details"]["kill_timeout"] == "500ms"
    assert event(alloc, "Terminated")["Details"]["exit_code"] == "137"
    assert events(alloc)[-1]["Type"] == "Killed"
    wait_until(lambda: not processes_of(alloc_id), "all its processes are gone")


@pytest.mark.parametrize("driver", ["raw_exec", "exec"])
def test_endless_output_is_rotated(agent: RealAgent, driver: str) -> None:
    name = f"loud-{driver}"
    alloc_id = run_job(agent, name, driver, "exec dd if=/dev/zero bs=1M")
    folder = agent.directory / f"data/alloc/{alloc_id}/alloc/logs"
    wait_until(lambda: _last_number(folder) > 50, "a lot was written")

    for _ in range(20):
        kept = _sizes(folder)
        assert len(kept) <= 3
        assert sum(kept) <= 3 << 20
    assert_works_on(agent, name)
    stop(agent, name, alloc_id)


def _sizes(folder: Path) -> list[int]:
    """The sizes of the files there are; one may go while they are looked at."""
    sizes = []
    for path in folder.glob("t.stdout.*"):
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return sizes


def _last_number(folder: Path) -> int:
    return max((int(path.suffix[1:]) for path in folder.glob("t.stdout.*")), default=0)
