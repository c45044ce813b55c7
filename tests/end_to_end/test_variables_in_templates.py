"""Templates follow variables, which no place on a disk holds in clear but the task's own directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import RealAgent, running_agent

TEMPLATE = '{{ with nomadVar "nomad/jobs/reader" }}{{ .password }}{{ end }}'
FIRST, SECOND = "first-password-of-the-test", "second-password-of-the-test"
SHOW = "cat local/out; echo; exec sleep 600"


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[RealAgent]:
    with running_agent(tmp_path) as agent:
        yield agent


def a_job() -> dict[str, Any]:
    template = {"EmbeddedTmpl": TEMPLATE, "DestPath": "local/out", "ChangeMode": "restart", "Splay": 0}
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", SHOW]},
        "Templates": [template],
    }
    return {"Job": {"ID": "reader", "Type": "service", "TaskGroups": [{"Name": "g", "Tasks": [task]}]}}


def put(agent: RealAgent, password: str) -> None:
    answer = agent.call("PUT", "/v1/var/nomad/jobs/reader", {"Items": {"password": password}})
    assert answer.status == 200, answer.text


def until_restarted(agent: RealAgent, restarts: int) -> str:
    (alloc,) = agent.wait_for(
        "/v1/job/reader/allocations",
        lambda rows: (
            rows
            and (rows[0]["TaskStates"] or {}).get("t", {}).get("Restarts") == restarts
            and rows[0]["TaskStates"]["t"]["State"] == "running"
        ),
    )
    alloc_id: str = alloc["ID"]
    return alloc_id


def test_a_task_waits_for_its_variable_and_is_restarted_when_it_changes(agent: RealAgent) -> None:
    assert agent.call("PUT", "/v1/jobs", a_job()).status == 200
    agent.wait_for("/v1/job/reader/allocations", bool)
    put(agent, FIRST)
    alloc_id = until_restarted(agent, 0)
    rendered = agent.directory / "data/alloc" / alloc_id / "t/local/out"
    assert rendered.read_text() == FIRST
    put(agent, SECOND)
    until_restarted(agent, 1)
    assert rendered.read_text() == SECOND

    agent.stop()
    for path in agent.directory.rglob("*"):
        if path.is_file() and f"/{alloc_id}/" not in str(path):
            content = path.read_bytes()
            assert FIRST.encode() not in content, path
            assert SECOND.encode() not in content, path
    agent.start()
    answer = agent.call("GET", "/v1/var/nomad/jobs/reader")
    assert answer.json["Items"] == {"password": SECOND}


def test_variables_come_back_with_an_archive(agent: RealAgent) -> None:
    put(agent, FIRST)
    archive = agent.connect()
    archive.request("GET", "/v1/operator/snapshot")
    saved = archive.getresponse().read()
    archive.close()
    assert FIRST.encode() not in saved
    put(agent, SECOND)
    assert agent.call("PUT", "/v1/operator/keyring/rotate").status == 200
    restored = agent.call("PUT", "/v1/operator/snapshot", saved)
    assert restored.status == 200, restored.text
    assert agent.call("GET", "/v1/var/nomad/jobs/reader").json["Items"] == {"password": FIRST}
    put(agent, SECOND)
    agent.kill()
    agent.start()
    assert agent.call("GET", "/v1/var/nomad/jobs/reader").json["Items"] == {"password": SECOND}
