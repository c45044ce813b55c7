"""A full disk: writes are refused with a clear error, nothing is lost, work resumes when space returns."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import RealAgent, clean_up

DISK_MIB = 16


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, small enough to fill."""
    data = tmp_path / "data"
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(data)], check=True)
    yield data
    clean_up(tmp_path)


def test_full_disk_refuses_writes_and_recovers(tmp_path: Path, small_disk: Path) -> None:
    agent = RealAgent(tmp_path, client=False)
    agent.start()
    acknowledged = [n for n in range(3) if agent.call("PUT", "/v1/jobs", _job(n)).status == 200]
    ballast = small_disk / "ballast"
    _fill(ballast)

    refused = None
    for number in range(100, 400):
        answer = agent.call("PUT", "/v1/jobs", _job(number))
        if answer.status == 200:
            acknowledged.append(number)
            continue
        refused = number, answer
        break

    assert refused is not None, "the disk is full, yet everything was acknowledged"
    number, answer = refused
    assert answer.status >= 500
    assert "disk" in answer.text or "space" in answer.text, answer.text
    assert agent.call("GET", f"/v1/job/job-{number}").status == 404, "a refused write changes nothing"
    assert agent.call("GET", "/v1/job/job-0").status == 200, "reads go on"

    ballast.unlink()
    after = agent.call("PUT", "/v1/jobs", _job(1000))
    assert after.status == 200, after.text
    acknowledged.append(1000)

    agent.kill()
    agent.start()
    jobs = {job["ID"] for job in agent.call("GET", "/v1/jobs").json}
    assert jobs >= {f"job-{n}" for n in acknowledged}
    assert f"job-{number}" not in jobs
    agent.stop()


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def _job(number: int) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/true"},
        "Meta": {"padding": "x" * 4000},
    }
    group = {"Name": "g", "Count": 0, "Tasks": [task]}
    return {"Job": {"ID": f"job-{number}", "TaskGroups": [group]}}
