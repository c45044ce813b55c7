"""Simulated nodes against a real server, as users run them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import RealAgent, running_agent

YURT = Path(sys.executable).parent / "yurt"

# Short enough that a silent node is noticed within the test's patience.
FAST_HEARTBEATS = """
server {
  min_heartbeat_ttl = "1s"
  heartbeat_grace   = "1s"
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    directory = tmp_path_factory.mktemp("simulate")
    with running_agent(directory, client=False, more_config=FAST_HEARTBEATS) as agent:
        yield agent


@pytest.fixture
def simulate(server: RealAgent) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `yurt node simulate` with the given flags; whatever still runs is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*flags: str) -> subprocess.Popen[str]:
        command = [str(YURT), "node", "simulate", "-address", f"http://127.0.0.1:{server.http_port}", *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert "joined" in process.stdout.readline()
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _job(job_id: str, count: int, **more: Any) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "mock_driver",
        "Config": {"run_for": "1h"},
        "Resources": {"CPU": 100, "MemoryMB": 64},
    }
    group = {"Name": "g", "Count": count, "Tasks": [task], "EphemeralDisk": {"SizeMB": 101}}
    return {"Job": {"ID": job_id, "Type": "service", "TaskGroups": [group], **more}}


def _names(server: RealAgent, status: str) -> list[str]:
    nodes = server.call("GET", "/v1/nodes").json
    return sorted(node["Name"] for node in nodes if node["Status"] == status)


def test_made_up_nodes_take_work_and_report_it(
    server: RealAgent, simulate: Callable[..., subprocess.Popen[str]]
) -> None:
    process = simulate("-count", "20", "-racks", "4", "-leave")
    server.call("PUT", "/v1/jobs", _job("many", 40))

    allocs = server.wait_for(
        "/v1/job/many/allocations",
        lambda found: len(found) == 40 and all(alloc["ClientStatus"] == "running" for alloc in found),
    )
    racks = {node["Name"] for node in server.call("GET", "/v1/nodes").json if node["Status"] == "ready"}
    assert len(racks) == 20
    assert {alloc["NodeName"] for alloc in allocs} <= racks

    server.call("DELETE", "/v1/job/many")
    server.wait_for(
        "/v1/job/many/allocations",
        lambda found: all(alloc["ClientStatus"] == "complete" for alloc in found),
    )
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert _names(server, "ready") == [], "with -leave they deregister"
    server.call("DELETE", "/v1/job/many?purge=true")


def test_nodes_of_a_file_behave_as_it_says_and_fall_silent_when_ended(
    server: RealAgent, simulate: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    file = tmp_path / "nodes.json"
    node = {"Datacenter": "dc1", "Cores": 4, "MHzPerCore": 1000, "MemoryMB": 4096, "DiskMB": 10240}
    drivers = {"Drivers": {"mock_driver": True}, "Attributes": {"driver.mock_driver": "1"}}
    nodes = [{"Name": name, **node, **drivers} for name in ("n1", "n2")]
    behaviour = [{"Job": "fails*", "Action": "fail", "AfterMs": 400}]
    file.write_text(json.dumps({"Nodes": nodes, "ClientBehaviour": behaviour, "Steps": ["not looked at"]}))
    process = simulate("-file", str(file))

    server.call("PUT", "/v1/jobs", _job("fails-soon", 1))
    server.wait_for(
        "/v1/job/fails-soon/allocations",
        lambda found: any(alloc["ClientStatus"] == "failed" for alloc in found),
    )
    server.call("DELETE", "/v1/job/fails-soon?purge=true")

    process.send_signal(signal.SIGTERM)
    process.wait(30)
    server.wait_for("/v1/nodes", lambda found: {node["Status"] for node in found} == {"down"})
    assert _names(server, "down") == ["n1", "n2"]


def test_a_file_that_holds_no_nodes_is_refused(server: RealAgent, tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text('{"Nodes": [{"Name": 5}]}')
    address = f"http://127.0.0.1:{server.http_port}"
    result = subprocess.run(
        [str(YURT), "node", "simulate", "-address", address, "-file", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert "$.Nodes[0].Name" in result.stderr
    assert "Traceback" not in result.stderr


def test_work_turns_healthy_and_comes_back_after_a_silence(
    server: RealAgent, simulate: Callable[..., subprocess.Popen[str]]
) -> None:
    process = simulate("-count", "1", "-leave")
    job = _job("tough", 1)
    job["Job"]["TaskGroups"][0]["Disconnect"] = {"LostAfter": 3_600_000_000_000, "Replace": False}
    server.call("PUT", "/v1/jobs", job)
    server.wait_for(
        "/v1/job/tough/deployments", lambda found: [one["Status"] for one in found] == ["successful"]
    )

    process.send_signal(signal.SIGSTOP)
    server.wait_for(
        "/v1/job/tough/allocations", lambda found: [one["ClientStatus"] for one in found] == ["unknown"]
    )
    process.send_signal(signal.SIGCONT)
    server.wait_for(
        "/v1/job/tough/allocations", lambda found: [one["ClientStatus"] for one in found] == ["running"]
    )

    # In place, into a new deployment: health is told anew.
    job["Job"]["TaskGroups"][0]["Count"] = 2
    server.call("PUT", "/v1/jobs", job)
    server.wait_for(
        "/v1/job/tough/deployments",
        lambda found: [one["Status"] for one in found] == ["successful", "successful"],
    )
    server.call("DELETE", "/v1/job/tough?purge=true")
