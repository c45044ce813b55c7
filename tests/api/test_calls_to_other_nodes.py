"""Client routes reach nodes in other processes: through a server, and straight from the node."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client_node import client_node
from tests.support.real_agent import RealAgent, running_agent

UNKNOWN = "00000000-1111-2222-3333-444444444444"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("server"), client=False) as started:
        yield started


@pytest.fixture(scope="module")
def node(server: RealAgent, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with client_node(tmp_path_factory.mktemp("node"), server) as node_id:
        yield server.call("GET", f"/v1/node/{node_id}").json


@pytest.fixture(scope="module")
def alloc(server: RealAgent, node: dict[str, Any]) -> str:
    """A running allocation on the other node, that has written something."""
    command = "trap 'echo told' USR1; echo hello; while :; do sleep 0.1; done"
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sh", "args": ["-c", command]}}
    job = {"ID": "far", "Name": "far", "TaskGroups": [{"Name": "g", "Tasks": [task]}]}
    assert server.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    (found,) = server.wait_for(
        "/v1/job/far/allocations", lambda rows: rows and rows[0]["ClientStatus"] == "running"
    )
    assert found["NodeID"] == node["ID"]
    connection = server.connect()
    connection.request("GET", f"/v1/client/fs/logs/{found['ID']}?task=t&type=stdout&plain=true&follow=true")
    assert connection.getresponse().read(6) == b"hello\n"
    connection.close()
    return str(found["ID"])


def _at_node(node: dict[str, Any], method: str, path: str, body: object = None) -> tuple[int, str]:
    """A call to the node itself rather than to a server."""
    connection = http.client.HTTPConnection(node["HTTPAddr"], timeout=60)
    try:
        connection.request(method, path, body=None if body is None else json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_files_and_logs(server: RealAgent, alloc: str) -> None:
    listed = server.call("GET", f"/v1/client/fs/ls/{alloc}").json
    assert {"alloc", "t"} <= {one["Name"] for one in listed}
    assert server.call("GET", f"/v1/client/fs/stat/{alloc}?path=alloc").json["IsDir"]
    path = f"/v1/client/fs/logs/{alloc}?task=t&type=stdout&plain=true"
    assert server.call("GET", path).text.startswith("hello\n")
    read = server.call("GET", f"/v1/client/fs/cat/{alloc}?path=alloc/logs/t.stdout.0")
    assert read.text.startswith("hello\n")
    assert read.headers["x-content-type-options"] == "nosniff"
    assert server.call("GET", f"/v1/client/fs/ls/{alloc}?path=nope").status == 404
    assert server.call("GET", f"/v1/client/fs/logs/{alloc}?task=x&type=stdout").status == 400


def test_a_followed_log_comes_as_it_is_written(server: RealAgent, alloc: str) -> None:
    connection = server.connect()
    connection.request("GET", f"/v1/client/fs/logs/{alloc}?task=t&type=stdout&plain=true&follow=true")
    answer = connection.getresponse()
    assert answer.read(6) == b"hello\n"
    body = {"Task": "t", "Signal": "SIGUSR1"}
    assert server.call("PUT", f"/v1/client/allocation/{alloc}/signal", body).json == {"Index": 0}
    assert answer.read(5) == b"told\n"
    connection.close()


def test_measures_checks_and_metadata(server: RealAgent, node: dict[str, Any], alloc: str) -> None:
    assert server.call("GET", f"/v1/client/stats?node_id={node['ID']}").json["Memory"]["Total"] > 0
    usage = server.call("GET", f"/v1/client/allocation/{alloc}/stats").json
    assert "ResourceUsage" in usage
    assert server.call("GET", f"/v1/client/allocation/{alloc}/checks").status == 200
    assert server.call("GET", f"/v1/allocation/{alloc}/checks").status == 200
    changed = server.call("POST", f"/v1/client/metadata?node_id={node['ID']}", {"Meta": {"rack": "r1"}})
    assert changed.json["Dynamic"] == {"rack": "r1"}
    assert server.call("GET", f"/v1/client/metadata?node_id={node['ID']}").json["Meta"]["rack"] == "r1"


def test_restart_and_collection(server: RealAgent, node: dict[str, Any], alloc: str) -> None:
    assert server.call("PUT", f"/v1/client/allocation/{alloc}/restart", {"TaskName": "t"}).status == 200
    server.wait_for(f"/v1/allocation/{alloc}", lambda one: one["TaskStates"]["t"]["Restarts"] == 1)
    refused = server.call("PUT", f"/v1/client/allocation/{alloc}/restart", {"TaskName": "x"})
    assert (refused.status, refused.text) == (500, "Could not find task runner for task: x")
    assert server.call("GET", f"/v1/client/allocation/{alloc}/gc").status == 500
    assert server.call("GET", f"/v1/client/gc?node_id={node['ID']}").status == 200


def test_the_log_of_another_agent(server: RealAgent, node: dict[str, Any]) -> None:
    connection = server.connect()
    connection.request("GET", f"/v1/agent/monitor?node_id={node['ID']}&log_level=debug")
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.read(2)[:1] == b"{"
    connection.close()


def test_a_node_hands_on_what_people_ask_it(server: RealAgent, node: dict[str, Any], alloc: str) -> None:
    status, text = _at_node(node, "GET", "/v1/jobs")
    assert (status, [job["ID"] for job in json.loads(text)]) == (200, ["far"])
    status, text = _at_node(node, "GET", f"/v1/client/fs/ls/{alloc}")
    assert status == 200
    assert {"alloc", "t"} <= {one["Name"] for one in json.loads(text)}
    assert _at_node(node, "GET", "/v1/job/nope") == (404, "job not found")
    assert _at_node(node, "PUT", "/v1/jobs", {}) == (400, "Job must be specified")


def test_a_wrong_relay_token_is_no_way_in(node: dict[str, Any], alloc: str) -> None:
    connection = http.client.HTTPConnection(node["HTTPAddr"], timeout=60)
    # Taken for a call of a person, which a server answers.
    connection.request("GET", f"/v1/client/allocation/{UNKNOWN}/stats", headers={"X-Yurt-Relay": "guess"})
    assert connection.getresponse().status == 404
    connection.close()


def test_unknown_nodes_and_nodes_that_are_gone(
    server: RealAgent, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert server.call("GET", f"/v1/client/stats?node_id={UNKNOWN}").status == 404
    unknown = server.call("GET", f"/v1/agent/monitor?node_id={UNKNOWN}")
    assert (unknown.status, unknown.text) == (500, f'RPC Error:: 404,Unknown node "{UNKNOWN}"')
    with client_node(tmp_path_factory.mktemp("gone"), server, name="node3") as node_id:
        assert server.call("GET", f"/v1/client/stats?node_id={node_id}").status == 200
    gone = server.call("GET", f"/v1/client/stats?node_id={node_id}")
    assert (gone.status, gone.text) == (404, "No path to node")
