"""Tasks reach the API on their own socket, with a token only, and see what their identity lets them."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import RealAgent, running_agent
from tests.support.task_api import call_as_task

ACL = "acl {\n  enabled = true\n}\n"
ROOT = "aaaaaaaa-0000-4000-8000-00000000000f"
TELL = 'printf %s "$NOMAD_TOKEN" > local/.token && mv local/.token local/token && exec sleep 600'


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("task-api"), more_config=ACL) as agent:
        bootstrap = agent.call("PUT", "/v1/acl/bootstrap", {"BootstrapSecret": ROOT})
        assert bootstrap.status == 200, bootstrap.text
        agent.token = ROOT
        for path in ("nomad/jobs/caller", "nomad/jobs/caller/g/t", "nomad/jobs/other", "app/x"):
            answer = agent.call("PUT", f"/v1/var/{path}", {"Items": {"a": path}})
            assert answer.status == 200, answer.text
        yield agent


@pytest.fixture(scope="module")
def task_dir(agent: RealAgent) -> Path:
    """The directory of a task that runs and has told its token."""
    task: dict[str, Any] = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", TELL]},
        "Identity": {"Env": True},
    }
    job = {"ID": "caller", "Type": "service", "TaskGroups": [{"Name": "g", "Tasks": [task]}]}
    assert agent.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    (alloc,) = agent.wait_for(
        "/v1/job/caller/allocations", lambda rows: rows and rows[0]["ClientStatus"] == "running"
    )
    agent.wait_for(f"/v1/client/fs/ls/{alloc['ID']}?path=t/local", _has_token)
    directory: Path = agent.directory / "data/alloc" / alloc["ID"] / "t"
    return directory


def _has_token(files: list[dict[str, Any]]) -> bool:
    return any(one["Name"] == "token" for one in files)


@pytest.mark.parametrize(
    ("token", "answer"),
    [
        ("", (401, "Unauthorized")),
        ("aaaaaaaa-0000-4000-8000-000000000000", (403, "Forbidden")),
        ("nonsense", (500, "Server error authenticating request\n")),
        ("a.b.c", (403, "Forbidden")),
    ],
)
def test_nobody_gets_in_without_a_good_token(task_dir: Path, token: str, answer: tuple[int, str]) -> None:
    assert call_as_task(task_dir, "/v1/status/leader", token=token) == answer


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/status/leader", 200),
        ("GET", "/v1/services", 200),
        ("GET", "/v1/var/nomad/jobs/caller", 200),
        ("GET", "/v1/var/nomad/jobs/caller/g/t", 200),
        ("GET", "/v1/var/nomad/jobs/other", 403),
        ("GET", "/v1/var/app/x", 403),
        ("PUT", "/v1/var/nomad/jobs/caller", 403),
        ("GET", "/v1/jobs", 403),
        ("GET", "/v1/operator/keyring/keys", 403),
        ("PUT", "/v1/operator/keyring/rotate", 403),
    ],
)
def test_a_task_may_do_what_its_identity_allows(task_dir: Path, method: str, path: str, status: int) -> None:
    token = (task_dir / "local/token").read_text()
    body = '{"Items": {"a": "b"}}' if method == "PUT" else ""
    found, text = call_as_task(task_dir, path, token=token, method=method, body=body)
    assert found == status, text


def test_lists_show_a_task_its_own_variables_only(task_dir: Path) -> None:
    token = (task_dir / "local/token").read_text()
    status, text = call_as_task(task_dir, "/v1/vars", token=token)
    assert status == 200
    assert "nomad/jobs/caller/g/t" in text
    assert "other" not in text
    assert "app/x" not in text


def test_the_socket_is_there_for_every_user_of_a_task_without_one(task_dir: Path) -> None:
    mode = (task_dir / "secrets/api.sock").stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o666


def test_a_token_ends_with_its_allocation(agent: RealAgent, task_dir: Path) -> None:
    token = (task_dir / "local/token").read_text()
    assert agent.call("DELETE", "/v1/job/caller").status == 200
    agent.wait_for("/v1/job/caller/allocations", lambda rows: rows[0]["ClientStatus"] == "complete")
    agent.token = token
    try:
        assert agent.call("GET", "/v1/var/nomad/jobs/caller").status == 403
    finally:
        agent.token = ROOT
