"""Container tasks of the simple API run on a real Docker Engine."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.docker_daemon import IMAGE, DockerDaemon
from tests.api.simple.simple_calls import SimpleClient, current
from tests.support.real_agent import running_agent


@pytest.fixture(scope="module")
def docker() -> Iterator[DockerDaemon]:
    # Not in pytest's folder, which is deleted much later: Docker leaves mounts that must go before.
    daemon = DockerDaemon(Path(tempfile.mkdtemp(prefix="yurt-docker-")))
    try:
        daemon.start()
        asyncio.run(daemon.add_image(IMAGE, "ENV PATH=/bin:/usr/bin"))
        yield daemon
    finally:
        daemon.remove()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _inspected(docker: DockerDaemon, name: str) -> Any:
    """All that the engine says about a container."""
    command = ["curl", "-sf", "--unix-socket", docker.endpoint.removeprefix("unix://")]
    told = subprocess.run(
        [*command, f"http://docker/containers/{name}/json"], capture_output=True, check=True
    )
    return json.loads(told.stdout)


def test_a_container_runs_with_its_port_reserved_and_no_limit_of_memory(
    tmp_path: Path, docker: DockerDaemon
) -> None:
    config = f'plugin "docker" {{\n  config {{\n    endpoint = "{docker.endpoint}"\n  }}\n}}\n'
    with running_agent(tmp_path, more_config=config) as agent:
        simple = SimpleClient(agent.simple_port)
        port = _free_port()
        task = {"name": "web", "config": {"image": IMAGE, "port": port, "command": "sleep 1000"}}
        document = {"task_groups": [{"name": "g", "tasks": [task]}]}
        first = simple.ok("POST", "/jobs", document)["job_id"]
        view = simple.job_when(first, lambda view: "running" in str(view["allocations"]))
        alloc = current(view)
        assert alloc["tasks"]["web"]["config"] == task["config"]
        container = _inspected(docker, f"web-{alloc['allocation_id']}")
        assert container["Config"]["Cmd"] == ["sleep", "1000"]
        assert container["HostConfig"]["Memory"] == 0
        assert f"{port}/tcp" in container["HostConfig"]["PortBindings"]
        # The port is taken: another such task does not fit on the only node.
        second = simple.ok("POST", "/jobs", document)["job_id"]
        view = simple.job_when(second, lambda view: view["status"] == "blocked")
        assert "reserved port collision" in view["status_description"]
        simple.ok("POST", f"/jobs/{first}/delete")
        simple.job_when(second, lambda view: view["status"] == "running")
        simple.ok("POST", f"/jobs/{second}/delete")
