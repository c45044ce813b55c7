"""A task that fills the node's disk is ended and told so; others that only use much are left alone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import RealAgent, clean_up
from yurt.agent.disk_watch import DiskShare, offender, used_bytes
from yurt.model.wire import AllocID

DISK_MIB = 128


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[RealAgent]:
    """An agent whose allocations live on a small file system of their own."""
    allocs = tmp_path / "allocs"
    allocs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(allocs)], check=True)
    agent = RealAgent(tmp_path, more_config=f'client {{\n  alloc_dir = "{allocs}"\n}}\n')
    agent.start()
    yield agent
    agent.stop()
    clean_up(tmp_path)


def place(agent: RealAgent, name: str, script: str) -> str:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", script]},
        # This disk is memory, which counts as the task's own.
        "Resources": {"CPU": 50, "MemoryMB": 2 * DISK_MIB},
        "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
        "RestartPolicy": {"Attempts": 0, "Mode": "fail", "Interval": 60 * 10**9, "Delay": 10**9},
    }
    group: dict[str, Any] = {"Name": "g", "EphemeralDisk": {"SizeMB": 10}, "Tasks": [task]}
    group["ReschedulePolicy"] = {"Attempts": 0}
    job = {"ID": name, "Name": name, "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": [group]}
    answer = agent.call("PUT", "/v1/jobs", {"Job": job})
    assert answer.status == 200, answer.text
    wanted = f"/v1/job/{name}/allocations"
    return str(agent.wait_for(wanted, lambda found: found and found[0]["ClientStatus"] == "running")[0]["ID"])


def test_who_fills_the_disk_is_ended(agent: RealAgent) -> None:
    fill = "dd if=/dev/zero of=$NOMAD_ALLOC_DIR/data/fill bs=1M count={} 2>/dev/null; sleep 1000"
    greedy = place(agent, "greedy", fill.format(20))
    hog = place(agent, "hog", fill.format(DISK_MIB))

    alloc = agent.wait_for(f"/v1/allocation/{hog}", lambda found: found["ClientStatus"] == "failed")

    told = [one for one in alloc["TaskStates"]["t"]["Events"] if one["Type"] == "Disk Resources Exceeded"]
    assert told[0]["Details"]["disk_limit"] == "10"
    assert "more than the 10 MB of its ephemeral_disk" in told[0]["DisplayMessage"]
    assert agent.call("GET", f"/v1/allocation/{greedy}").json["ClientStatus"] == "running"
    # Its data goes with the next collection, and there is room again.
    place(agent, "after", fill.format(5))


def test_only_who_is_beyond_its_limit_is_to_blame() -> None:
    def share(name: str, used: int, limit: int) -> DiskShare:
        return DiskShare(alloc_id=AllocID(name), used=used, limit=limit)

    assert offender([share("a", 100, 100), share("b", 5, 100)]) is None
    worst = offender([share("a", 120, 100), share("b", 60, 10), share("c", 500, 1000)])
    assert worst is not None
    assert worst.alloc_id == "b"


def test_links_and_mounts_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").write_bytes(b"x" * 100_000)
    (tmp_path / "a/link").symlink_to("/usr")
    assert 100_000 <= used_bytes(str(tmp_path / "a")) < 200_000
    assert used_bytes(str(tmp_path / "nosuch")) == 0
