"""Tasks on nodes without a server have identities, variables and the API, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.client_node import client_node
from tests.support.real_agent import RealAgent, running_agent
from tests.support.task_api import call_as_task

TELL = 'printf %s "$NOMAD_TOKEN" > local/.token && mv local/.token local/token && exec sleep 600'
TEMPLATE = '{{ with nomadVar "nomad/jobs/far" }}{{ .a }}{{ end }}'


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("server"), client=False) as server:
        yield server


def test_a_far_task_has_its_identity_its_variables_and_the_api(server: RealAgent, tmp_path: Path) -> None:
    task: dict[str, Any] = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", TELL]},
        "Identity": {"Env": True},
        "Templates": [{"EmbeddedTmpl": TEMPLATE, "DestPath": "local/out"}],
    }
    job = {"ID": "far", "Type": "service", "TaskGroups": [{"Name": "g", "Tasks": [task]}]}
    assert server.call("PUT", "/v1/var/nomad/jobs/far", {"Items": {"a": "variable"}}).status == 200
    with client_node(tmp_path, server):
        assert server.call("PUT", "/v1/jobs", {"Job": job}).status == 200
        (alloc,) = server.wait_for(
            "/v1/job/far/allocations", lambda rows: rows and rows[0]["ClientStatus"] == "running"
        )
        server.wait_for(
            f"/v1/client/fs/ls/{alloc['ID']}?path=t/local",
            lambda files: any(one["Name"] == "token" for one in files),
        )
        (task_dir,) = tmp_path.glob(f"**/{alloc['ID']}/t")
        assert (task_dir / "local/out").read_text() == "variable"
        token = (task_dir / "local/token").read_text()
        assert call_as_task(task_dir, "/v1/status/leader") == (401, "Unauthorized")
        assert call_as_task(task_dir, "/v1/status/leader", token="a.b.c") == (403, "Forbidden")
        status, text = call_as_task(task_dir, "/v1/var/nomad/jobs/far", token=token)
        assert (status, "variable" in text) == (200, True)
        server.call("DELETE", "/v1/job/far?purge=true")
        server.wait_for("/v1/jobs", lambda jobs: not jobs)
