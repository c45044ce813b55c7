"""Jobs in networks of their own, and what the machine keeps of those."""

from __future__ import annotations

import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.real_agent import RealAgent

# Networks belong to the whole machine, so each run of the tests has its own.
MARK = os.getpid() % 1000
BRIDGE = f"yurt{MARK}"
SUBNET = f"172.30.{MARK % 250}.0/24"
OTHER = f"yurto{MARK}"
SERVE = 'echo "$NOMAD_ALLOC_IP_http" > local/index.html; exec busybox httpd -f -p "$NOMAD_PORT_http" -h local'


def remove_bridges() -> None:
    """Remove what networks leave for the next allocation."""
    for bridge in (BRIDGE, OTHER):
        subprocess.run(["ip", "link", "delete", bridge], check=False, capture_output=True)
    subprocess.run(["rm", "-rf", f"/var/run/cni/{BRIDGE}"], check=True)
    admin = ["iptables", "-D", "NOMAD-ADMIN", "-o", BRIDGE, "-d", SUBNET, "-j", "ACCEPT"]
    subprocess.run(admin, check=False, capture_output=True)


def a_job(name: str, script: str, *, driver: str = "raw_exec", network: dict[str, Any]) -> dict[str, Any]:
    return {
        "ID": name,
        "Name": name,
        "Type": "service",
        "Datacenters": ["dc1"],
        "TaskGroups": [
            {
                "Name": "g",
                "RestartPolicy": {"Attempts": 0, "Mode": "fail", "Interval": 10**10, "Delay": 10**9},
                "ReschedulePolicy": {"Attempts": 0, "Unlimited": False},
                "Networks": [network],
                "Tasks": [
                    {
                        "Name": "t",
                        "Driver": driver,
                        "KillTimeout": 10**8,
                        "Config": {"command": "/bin/sh", "args": ["-c", script]},
                        "Resources": {"CPU": 50, "MemoryMB": 32},
                    }
                ],
            }
        ],
    }


BRIDGED = {"Mode": "bridge", "DynamicPorts": [{"Label": "http", "To": 8080}]}


def run(agent: RealAgent, job: dict[str, Any], status: str = "running") -> dict[str, Any]:
    """Register a job and wait for its allocation."""
    assert agent.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    path = f"/v1/job/{job['ID']}/allocations"
    [listed] = agent.wait_for(path, lambda body: [a for a in body if a["ClientStatus"] == status])[-1:]
    return dict(agent.call("GET", f"/v1/allocation/{listed['ID']}").json)


def stop(agent: RealAgent, job: str, alloc_id: str) -> None:
    agent.call("DELETE", f"/v1/job/{job}")
    agent.wait_for(f"/v1/allocation/{alloc_id}", lambda alloc: alloc["ClientStatus"] == "complete")


def fetch(address: str) -> str:
    """Read from a server that may just be starting."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"http://{address}/", timeout=5) as answer:
                return str(answer.read().decode().strip())
        except OSError:
            subprocess.run(["sleep", "0.1"], check=True)
    raise TimeoutError(address)


def logs(agent: RealAgent, alloc_id: str) -> str:
    path = f"/v1/client/fs/logs/{alloc_id}?task=t&type=stdout&plain=true"
    return agent.call("GET", path).text


def output(agent: RealAgent, alloc_id: str, last: str) -> list[str]:
    """The lines of a task's output, once it has written the last one."""
    for _ in range(200):
        lines = logs(agent, alloc_id).splitlines()
        if last in lines:
            return lines
        subprocess.run(["sleep", "0.05"], check=True)
    raise TimeoutError(logs(agent, alloc_id))


def host_address(alloc: dict[str, Any]) -> str:
    [port] = alloc["AllocatedResources"]["Shared"]["Ports"]
    return f"{port['HostIP']}:{port['Value']}"


def traces(alloc_id: str) -> list[str]:
    """What the machine still has of an allocation's network."""
    rules = subprocess.run(["iptables-save"], check=True, capture_output=True, text=True).stdout
    found = [line for line in rules.splitlines() if alloc_id in line]
    found += [str(path) for path in Path("/var/run/netns").glob(alloc_id)]
    addresses = Path("/var/run/cni", BRIDGE)
    found += [str(path) for path in addresses.glob("*.*") if alloc_id in path.read_text()]
    return found


def assert_no_traces(alloc_id: str) -> None:
    """An allocation is told to be complete when its tasks are; its network goes right after."""
    for _ in range(200):
        if not traces(alloc_id):
            return
        subprocess.run(["sleep", "0.05"], check=True)
    assert traces(alloc_id) == []
