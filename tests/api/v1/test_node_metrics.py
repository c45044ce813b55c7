"""The metrics of a node and its tasks, read from a real agent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import RealAgent, running_agent

YURT = Path(sys.executable).parent / "yurt"
TELEMETRY = """
telemetry {
  prometheus_metrics         = true
  publish_node_metrics       = true
  publish_allocation_metrics = true
}
"""


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent"), more_config=TELEMETRY) as agent:
        yield agent


@pytest.fixture(scope="module")
def alloc(agent: RealAgent) -> dict[str, Any]:
    """An allocation whose task sleeps."""
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sleep", "args": ["1000"]},
        "Resources": {"CPU": 50, "MemoryMB": 32},
    }
    groups = [{"Name": "g", "Tasks": [task]}]
    job = {"ID": "j", "Name": "j", "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": groups}
    assert agent.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    allocs = agent.wait_for(
        "/v1/job/j/allocations", lambda found: found and found[0]["ClientStatus"] == "running"
    )
    found: dict[str, Any] = allocs[0]
    return found


def test_gauges_tell_what_is_used(agent: RealAgent, alloc: dict[str, Any]) -> None:
    gauges = agent.call("GET", "/v1/metrics").json["Gauges"]
    values = {gauge["Name"]: gauge["Value"] for gauge in gauges}
    of_task = next(gauge for gauge in gauges if gauge["Name"] == "nomad.client.allocs.memory.rss")

    assert values["nomad.client.host.memory.total"] > values["nomad.client.host.memory.free"] > 0
    assert values["nomad.client.allocations.running"] == 1
    assert (values["nomad.client.allocated.cpu"], values["nomad.client.allocated.memory"]) == (50, 32)
    assert values["nomad.client.allocs.memory.allocated"] == 32 << 20
    assert of_task["Value"] > 0
    assert of_task["Labels"] == {
        "alloc_id": alloc["ID"],
        "host": "node1",
        "job": "j",
        "namespace": "default",
        "task": "t",
        "task_group": "g",
    }


def test_prometheus_reads_them_too(agent: RealAgent, alloc: dict[str, Any]) -> None:
    text = agent.call("GET", "/v1/metrics?format=prometheus").text
    assert "# TYPE nomad_client_host_memory_total gauge\n" in text
    assert f'nomad_client_allocs_memory_rss{{alloc_id="{alloc["ID"]}",' in text


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["alloc", "status", "-stats", "{alloc}"], ["Memory Stats", "RSS", "CPU Stats", "System Mode"]),
        (["node", "status", "-stats", "-self"], ["CPU Stats", "cpu0", "Memory Stats", "Disk Stats"]),
    ],
)
def test_the_command_line_shows_them(
    agent: RealAgent, alloc: dict[str, Any], command: list[str], shown: list[str]
) -> None:
    arguments = [part.format(alloc=alloc["ID"]) for part in command]
    env = {**os.environ, "NOMAD_ADDR": agent.address}
    done = subprocess.run([str(YURT), *arguments], env=env, capture_output=True, text=True, check=True)
    assert not [text for text in shown if text not in done.stdout], done.stdout
