"""Requests made to hurt: deep, ambiguous, compressed, endless, or with line breaks where none belong."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import sys
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.support.real_agent import Answer, RealAgent, running_agent
from yurt.observe import logger as log_setup

DEPTH = 200_000


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("hostile"), client=False) as agent:
        yield agent


@pytest.fixture(autouse=True)
def still_serves(agent: RealAgent) -> Iterator[None]:
    """Whatever a test did, the agent answers, and its log has no traceback."""
    yield
    assert agent.call("GET", "/v1/status/leader").status == 200
    assert "Traceback" not in agent.log.read_text()


def raw(agent: RealAgent, data: bytes) -> str:
    """Send bytes on a new connection; returns all that comes back until it ends, or falls silent."""
    with socket.create_connection(("127.0.0.1", agent.http_port), timeout=30) as sock:
        received = b""
        # It may hang up before it has read all.
        with contextlib.suppress(ConnectionError):
            sock.sendall(data)
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_WR)
            while chunk := sock.recv(65536):
                received += chunk
    return received.decode(errors="replace")


def fresh(agent: RealAgent, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
    connection = agent.connect()
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return Answer(status=response.status, headers={}, text=response.read().decode(errors="replace"))
    finally:
        connection.close()


# --- depth and size ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[" * DEPTH, id="arrays"),
        pytest.param(b'{"Job":' * DEPTH, id="objects"),
        pytest.param(b'{"Job":{"Meta":' + b"[" * DEPTH + b"]" * DEPTH + b"}}", id="inside a field"),
        pytest.param(
            b'{"Job":{"TaskGroups":[{"Tasks":[{"Config":{"a":' + b"[" * DEPTH + b"]" * DEPTH + b"}}]}]}}",
            id="inside what may be anything",
        ),
    ],
)
@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/validate/job", "/v1/search"])
def test_deep_json_is_refused(agent: RealAgent, body: bytes, path: str) -> None:
    assert agent.call("PUT", path, body).status in (400, 500)


@pytest.mark.parametrize("source", ["a = " + "[" * DEPTH, "b {" * DEPTH, 'a = "' + "${" * DEPTH])
def test_deep_job_files_are_refused(agent: RealAgent, source: str) -> None:
    assert agent.call("POST", "/v1/jobs/parse", {"JobHCL": source}).status in (400, 500)


def test_a_body_that_is_too_large_is_refused_by_its_announced_length(agent: RealAgent) -> None:
    answer = raw(agent, b"PUT /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n{")
    assert answer.startswith("HTTP/1.1 413 ")


def test_an_endless_chunked_body_is_cut_off(agent: RealAgent) -> None:
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", agent.http_port), timeout=30) as sock:
        sock.sendall(b"PUT /v1/jobs HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert any(_is_refused(sock, chunk) for _ in range(1000))


def _is_refused(sock: socket.socket, chunk: bytes) -> bool:
    """Send some more; whether an answer has come instead of an end."""
    try:
        sock.sendall(chunk)
        sock.setblocking(False)
        return b" 413 " in sock.recv(65536)
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        sock.settimeout(30)


def test_compressed_bodies_are_not_unpacked(agent: RealAgent) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    answer = fresh(agent, "PUT", "/v1/jobs", bomb, {"Content-Encoding": "gzip"})
    assert answer.status in (400, 415, 500)


def test_numbers_that_take_long_to_read_are_refused(agent: RealAgent) -> None:
    assert agent.call("PUT", "/v1/jobs", b'{"Job":{"Priority":' + b"9" * 1_000_000 + b"}}").status in (
        400,
        500,
    )
    assert agent.call("GET", f"/v1/jobs?index={'9' * 20_000}").status == 400
    assert agent.call("GET", f"/v1/jobs?per_page={'9' * 20_000}").status == 400


# --- expressions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("not " * 9_000 + "ID is empty", id="many nots"),
        pytest.param("not " * 90_000 + "ID is empty", id="too many nots"),
        pytest.param("(" * 9_000 + "ID is empty" + ")" * 9_000, id="deep brackets"),
        pytest.param(" or ".join(["ID is empty"] * 2000), id="many terms"),
        pytest.param('ID matches "' + "(" * 5000 + ")" * 5000 + '"', id="deep expression"),
        pytest.param('ID matches "' + "a{1000}{1000}{1000}" + '"', id="huge repetition"),
    ],
)
def test_huge_filter_expressions_are_refused_or_answered(agent: RealAgent, expression: str) -> None:
    # Those that are longer than a request's head may be never get as far as the filter.
    answer = raw(
        agent,
        f"GET /v1/jobs?filter={quote(expression)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode(),
    )
    assert not answer or answer.split(" ", 2)[1] in ("200", "400", "431", "500")


def test_regular_expressions_take_linear_time(agent: RealAgent) -> None:
    """Each of these takes longer than the universe has for engines that go back and try again."""
    name = "a" * 100
    for namespace in (name, f"{name}b"):
        assert agent.call("PUT", f"/v1/namespace/{namespace}", {"Name": namespace}).status == 200
    for pattern in ("^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){40}$", "^(([a-z])+.)+[A-Z]([a-z])+$"):
        asked = quote(f'Name matches "{pattern}"')
        assert agent.call("GET", f"/v1/namespaces?filter={asked}").status == 200


# --- ambiguity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", id="both lengths"),
        pytest.param("Content-Length: 5\r\nContent-Length: 6\r\n", id="two lengths"),
        pytest.param("Content-Length: 5, 6\r\n", id="a list of lengths"),
        pytest.param("Content-Length: +5\r\n", id="a signed length"),
        pytest.param("Content-Length: 0x5\r\n", id="a hexadecimal length"),
        pytest.param("Transfer-Encoding: chunked, identity\r\n", id="chunked is not last"),
        pytest.param("Transfer-Encoding: xchunked\r\n", id="an unknown coding"),
        pytest.param("Transfer-Encoding : chunked\r\n", id="a blank before the colon"),
        pytest.param("X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", id="a folded line"),
        pytest.param("X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", id="a bare line feed"),
        pytest.param("X: a\rY: b\r\n", id="a bare carriage return"),
        pytest.param("X\0: a\r\n", id="a zero in a name"),
    ],
)
def test_a_request_that_two_readers_may_read_differently_hides_no_other(agent: RealAgent, head: str) -> None:
    smuggled = b"0\r\n\r\nDELETE /v1/namespace/victim HTTP/1.1\r\nHost: a\r\n\r\n"
    assert agent.call("PUT", "/v1/namespace/victim", {"Name": "victim"}).status == 200
    answer = raw(agent, f"POST /v1/search HTTP/1.1\r\nHost: a\r\n{head}\r\n".encode() + smuggled)
    statuses = [line.split()[1] for line in answer.splitlines() if line.startswith("HTTP/1.1 ")]
    assert statuses[-1] == "400", "whatever was made of the beginning, the rest is not taken for a request"
    assert agent.call("GET", "/v1/namespace/victim").status == 200


@pytest.mark.parametrize(
    "target",
    [
        "/v1/job/%0d%0aSet-Cookie:%20a=b",
        "/v1//x%0d%0aLocation:%20http://evil.example",
        "/v1/x/../%0d%0aX:%20y",
    ],
)
def test_line_breaks_in_paths_make_no_headers(agent: RealAgent, target: str) -> None:
    answer = raw(agent, f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    head = answer.partition("\r\n\r\n")[0].lower()
    assert "\r\nset-cookie:" not in head
    assert "\r\nlocation: http://evil" not in head
    assert "\r\nx: y" not in head


@pytest.mark.parametrize(
    "target", ["//evil.example/", "///evil.example/..", "/v1//evil.example", "/\\evil.example/.."]
)
def test_redirects_stay_here(agent: RealAgent, target: str) -> None:
    answer = raw(agent, f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
    location = next((line for line in answer.splitlines() if line.lower().startswith("location:")), "")
    assert not location.partition(":")[2].strip().startswith(("//", "http", "\\"))


# --- names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a\r\nb", "a\nlevel=error forged", "a\x1b[2Jb", "a\0b", "a\u2028b"])
def test_control_characters_in_names_forge_no_log_lines(agent: RealAgent, name: str) -> None:
    job = {
        "ID": name,
        "Name": name,
        "TaskGroups": [{"Name": "g", "Tasks": [{"Name": "t", "Driver": "exec"}]}],
    }
    agent.call("PUT", "/v1/jobs", {"Job": job})
    agent.call("PUT", "/v1/namespace", {"Name": name, "Description": name})
    agent.call("GET", f"/v1/job/{quote(name, safe='')}")
    agent.call("GET", f"/v1/client/fs/cat/{quote(name, safe='')}?path={quote(name, safe='')}")
    log = agent.log.read_text()
    assert "\x1b[2J" not in log
    assert not any(line.startswith(("b", "level=error forged")) for line in log.splitlines())


@pytest.mark.parametrize("json_lines", [False, True])
def test_log_lines_are_lines(json_lines: bool, capsys: pytest.CaptureFixture[str]) -> None:
    log_setup.configure("INFO", json=json_lines, stream=sys.stdout)
    log_setup.get_logger("test").info("thing.happened", name="a\r\n2026-01-01 [error] forged \x1b[31m")
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert "\r" not in printed
    assert "\x1b[31m" not in printed
    if json_lines:
        assert json.loads(printed)["name"].startswith("a\r\n")
