"""Client routes reach nodes in other processes: through a server, and straight from the node."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

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
    task: dict[str, Any] = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", command]},
    }
    task["Actions"] = [{"Name": "greet", "Command": "/bin/echo", "Args": ["hi"]}]
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
    changed = server.call("POST", f"/v1/client/metadata?node_id={node['ID']}", {"Meta": {"rack": None}})
    assert changed.json["Dynamic"] == {}
    assert "rack" not in changed.json["Meta"]


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


def _run(address: str, path: str, *messages: object) -> tuple[str, Any]:
    """Have a command run over a WebSocket; gives its output, and how the session ended."""
    output, ended = b"", None
    with connect(f"ws://{address}{path}", close_timeout=1) as socket:
        for message in messages:
            socket.send(json.dumps(message))
        try:
            while True:
                told = json.loads(socket.recv(60))
                output += base64.b64decode(told.get("stdout", {}).get("data", ""))
                ended = told.get("result", ended)
        except ConnectionClosed as closed:
            if closed.rcvd is not None:
                ended = (closed.rcvd.code, closed.rcvd.reason)
    return output.decode(), ended


@pytest.mark.parametrize("door", ["server", "node"])
def test_commands_run_on_the_other_node(
    server: RealAgent, node: dict[str, Any], alloc: str, door: str
) -> None:
    address = server.address.removeprefix("http://") if door == "server" else node["HTTPAddr"]
    close = {"stdin": {"close": True}}
    command = quote(json.dumps(["/bin/sh", "-c", "read line; echo $line from $NOMAD_ALLOC_ID; exit 3"]))
    path = f"/v1/client/allocation/{alloc}/exec?task=t&command={command}"
    typed = {"stdin": {"data": base64.b64encode(b"typed\n").decode()}}
    assert _run(address, path, typed, close) == (f"typed from {alloc}\n", {"exit_code": 3})
    shaken = {"version": 1, "auth_token": ""}
    assert _run(address, f"{path}&ws_handshake=true", shaken, typed, close)[1] == {"exit_code": 3}
    size = {"tty_size": {"height": 11, "width": 22}}
    stty = quote(json.dumps(["/bin/sh", "-c", "read line; stty size"]))
    in_terminal = f"/v1/client/allocation/{alloc}/exec?task=t&tty=true&command={stty}"
    assert "11 22" in _run(address, in_terminal, size, typed)[0]
    action = f"/v1/job/far/action?action=greet&task=t&allocID={alloc}"
    assert _run(address, action, close) == ("hi\n", {})
    assert _run(address, path.replace("task=t", "task=zz"))[1] == (1011, "task not found")
    assert _run(address, path.replace("task=t", "task="))[1] == (1008, "must provide task name")
    unknown = path.replace(alloc, UNKNOWN)
    assert _run(address, unknown)[1] == (1008, f'Unknown allocation "{UNKNOWN}"')


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
