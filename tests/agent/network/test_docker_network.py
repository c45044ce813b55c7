"""Containers in the network of their group, beside tasks that are none."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.agent.network.network_jobs import (
    BRIDGE,
    BRIDGED,
    SERVE,
    SUBNET,
    a_job,
    assert_no_traces,
    fetch,
    host_address,
    output,
    remove_bridges,
    run,
    stop,
)
from tests.support.real_agent import RealAgent, running_agent


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
def agent(daemon: DockerDaemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    config = f"""
client {{
  bridge_network_name   = "{BRIDGE}"
  bridge_network_subnet = "{SUBNET}"
}}
plugin "docker" {{
  config {{
    endpoint = "{daemon.endpoint}"
  }}
}}
"""
    try:
        with running_agent(tmp_path_factory.mktemp("docker-networks"), more_config=config) as started:
            yield started
    finally:
        remove_bridges()


def assert_no_containers(daemon: DockerDaemon) -> None:
    """The container that holds the network goes last."""
    for _ in range(200):
        if not asyncio.run(daemon.containers()):
            return
    assert asyncio.run(daemon.containers()) == []


def test_a_container_and_a_command_share_one_network(agent: RealAgent, daemon: DockerDaemon) -> None:
    """The server runs on the host's files, the container asks it over their loopback, by its name, too."""
    network = BRIDGED | {"Hostname": "web", "DNS": {"Servers": ["10.0.0.53"]}}
    job = a_job("shared", SERVE, network=network)
    script = (
        "ask() { nc -w 1 $1 8080 < /dev/null > /dev/null; }; while ! ask 127.0.0.1; do sleep 0.1; done; "
        "ask web && ask other && echo found; cat /etc/resolv.conf; echo end; exec sleep 1000"
    )
    job["TaskGroups"][0]["Tasks"][0]["Name"] = "server"
    job["TaskGroups"][0]["Tasks"].append(
        {
            "Name": "t",
            "Driver": "docker",
            "KillTimeout": 10**8,
            "Config": {
                "image": IMAGE,
                "command": "/bin/sh",
                "args": ["-c", script],
                "extra_hosts": ["other:127.0.0.1"],
            },
            "Resources": {"CPU": 50, "MemoryMB": 32},
        }
    )
    alloc = run(agent, job)

    assert fetch(host_address(alloc)) == alloc["NetworkStatus"]["Address"]
    assert output(agent, alloc["ID"], "end") == ["found", "nameserver 10.0.0.53", "end"]

    stop(agent, "shared", alloc["ID"])
    assert_no_traces(alloc["ID"])
    assert_no_containers(daemon)


def test_a_restarted_agent_finds_the_containers_network_again(agent: RealAgent, daemon: DockerDaemon) -> None:
    job = a_job("kept", "", driver="docker", network=BRIDGED)
    job["TaskGroups"][0]["Tasks"][0]["Config"] = {
        "image": IMAGE,
        "command": "/bin/sh",
        "args": ["-c", "while true; do printf 'HTTP/1.0 200 OK\\r\\n\\r\\nhere' | nc -l -p 8080; done"],
    }
    alloc = run(agent, job)
    assert fetch(host_address(alloc)) == "here"
    agent.kill()
    agent.start()
    found = agent.wait_for(f"/v1/allocation/{alloc['ID']}", lambda body: body["ClientStatus"] == "running")

    assert found["NetworkStatus"]["Address"] == alloc["NetworkStatus"]["Address"]
    assert fetch(host_address(alloc)) == "here"
    stop(agent, "kept", alloc["ID"])
    assert_no_traces(alloc["ID"])
    assert_no_containers(daemon)
