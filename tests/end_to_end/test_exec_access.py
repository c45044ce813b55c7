"""Who may run commands in tasks: with a token in a header or in the handshake, for as long as it is good."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.support.real_agent import RealAgent, running_agent

ACL = "acl {\n  enabled = true\n}\n"
ROOT = "aaaaaaaa-0000-4000-8000-00000000000f"
WAIT_S_MAX = 60.0
DENIED = (1011, "Permission denied")
EXITED = {"exited": True, "result": {}}


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("exec-access"), more_config=ACL) as agent:
        assert agent.call("PUT", "/v1/acl/bootstrap", {"BootstrapSecret": ROOT}).status == 200
        agent.token = ROOT
        yield agent


@pytest.fixture(scope="module")
def allocs(agent: RealAgent) -> dict[str, str]:
    """A running allocation of a driver that isolates, and of one that does not."""
    found = {}
    for driver in ("exec", "raw_exec"):
        config = {"command": "/bin/sleep", "args": ["1000"]}
        task = {"Name": "t", "Driver": driver, "Config": config, "Resources": {"CPU": 20, "MemoryMB": 32}}
        group = {"Name": "g", "Tasks": [task]}
        job: dict[str, Any] = {"ID": driver, "Name": driver, "Type": "batch", "TaskGroups": [group]}
        assert agent.call("PUT", "/v1/jobs", {"Job": job}).status == 200
        rows = agent.wait_for(
            f"/v1/job/{driver}/allocations", lambda rows: rows and rows[0]["ClientStatus"] == "running"
        )
        found[driver] = str(rows[0]["ID"])
    return found


def token(agent: RealAgent, name: str, *capabilities: str) -> dict[str, Any]:
    rules = f'namespace "default" {{ capabilities = {json.dumps(list(capabilities))} }}'
    answer = agent.call("PUT", f"/v1/acl/policy/{name}", {"Name": name, "Rules": rules})
    assert answer.status == 200, answer.text
    made: dict[str, Any] = agent.call("PUT", "/v1/acl/token", {"Type": "client", "Policies": [name]}).json
    return made


def opened(agent: RealAgent, alloc: str, secret: str, *command: str, query: str = "") -> ClientConnection:
    path = f"/v1/client/allocation/{alloc}/exec?task=t&command={quote(json.dumps(command))}{query}"
    headers = {"X-Nomad-Token": secret} if secret else {}
    socket: ClientConnection = connect(
        f"ws://127.0.0.1:{agent.http_port}{path}", additional_headers=headers, close_timeout=1
    )
    return socket


def end(socket: ClientConnection) -> Any:
    """The last message of a session, or its closing reason."""
    last = None
    try:
        while True:
            last = json.loads(socket.recv(WAIT_S_MAX))
    except ConnectionClosed as closed:
        return last if closed.rcvd is None else (closed.rcvd.code, closed.rcvd.reason)


def test_a_command_takes_the_capability_for_it(agent: RealAgent, allocs: dict[str, str]) -> None:
    reader = token(agent, "reader", "read-job", "read-logs")["SecretID"]
    runner = token(agent, "runner", "alloc-exec")["SecretID"]
    for secret, wanted in ((reader, DENIED), ("", DENIED), (runner, EXITED), (ROOT, EXITED)):
        with opened(agent, allocs["exec"], secret, "/bin/true") as socket:
            assert end(socket) == wanted


def test_the_host_takes_one_more(agent: RealAgent, allocs: dict[str, str]) -> None:
    runner = token(agent, "runner", "alloc-exec")["SecretID"]
    operator = token(agent, "operator", "alloc-exec", "alloc-node-exec")["SecretID"]
    for secret, wanted in ((runner, DENIED), (operator, EXITED)):
        with opened(agent, allocs["raw_exec"], secret, "/bin/true") as socket:
            assert end(socket) == wanted


def test_browsers_show_their_token_first(agent: RealAgent, allocs: dict[str, str]) -> None:
    for secret, wanted in ((ROOT, EXITED), ("", DENIED), ("aaaaaaaa-0000-4000-8000-000000000000", DENIED)):
        with opened(agent, allocs["exec"], "", "/bin/true", query="&ws_handshake=true") as socket:
            socket.send(json.dumps({"version": 1, "auth_token": secret}))
            assert end(socket) == wanted


def test_a_session_ends_with_its_token(agent: RealAgent, allocs: dict[str, str]) -> None:
    made = token(agent, "runner", "alloc-exec")
    with opened(agent, allocs["exec"], made["SecretID"], "/bin/cat") as socket:
        socket.send(json.dumps({"stdin": {"data": "aGkK"}}))
        assert json.loads(socket.recv(WAIT_S_MAX)) == {"stdout": {"data": "aGkK"}}
        assert agent.call("DELETE", f"/v1/acl/token/{made['AccessorID']}").status == 200
        assert end(socket) == DENIED
