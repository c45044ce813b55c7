"""`yurt alloc exec` as people use it: in a terminal, against a real agent."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.support.real_agent import RealAgent, running_agent

YURT = Path(sys.executable).parent / "yurt"
WAIT_S_MAX = 60.0


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        yield agent


@pytest.fixture(scope="module")
def alloc_id(agent: RealAgent) -> str:
    """An allocation with one task that sleeps, whose job has an action."""
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sleep", "args": ["1000"]},
        "Resources": {"CPU": 50, "MemoryMB": 32},
        "Actions": [
            {"Name": "greet", "Command": "/bin/sh", "Args": ["-c", "echo hi $NOMAD_TASK_NAME; exit 3"]}
        ],
    }
    job = {
        "ID": "shell",
        "Name": "shell",
        "Type": "batch",
        "Datacenters": ["dc1"],
        "TaskGroups": [{"Name": "g", "Tasks": [task]}],
    }
    answer = agent.call("PUT", "/v1/jobs", {"Job": job})
    assert answer.status == 200, answer.text
    allocs = agent.wait_for(
        "/v1/job/shell/allocations", lambda found: found and found[0]["ClientStatus"] == "running"
    )
    return str(allocs[0]["ID"])


class Terminal:
    """A terminal with `yurt` running in it."""

    def __init__(self, agent: RealAgent, *arguments: str) -> None:
        self._master, slave = os.openpty()
        self.size(24, 80)
        self._slave = slave
        self.settings = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [str(YURT), *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "NOMAD_ADDR": agent.address},
            start_new_session=True,
        )
        self.shown = ""

    def size(self, height: int, width: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def resize(self, height: int, width: int) -> None:
        """Change the size; it is no controlling terminal, so its program is told by hand."""
        self.size(height, width)
        self.process.send_signal(signal.SIGWINCH)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, pattern: str) -> str:
        end = time.monotonic() + WAIT_S_MAX
        while not (found := re.search(pattern, self.shown)):
            assert time.monotonic() < end, f"no {pattern} in {self.shown!r}"
            if select.select([self._master], [], [], 0.5)[0]:
                with contextlib.suppress(OSError):
                    self.shown += os.read(self._master, 4096).decode()
        self.shown = self.shown[found.end() :]
        return found[0]

    def end(self) -> int:
        code = self.process.wait(WAIT_S_MAX)
        assert termios.tcgetattr(self._slave) == self.settings, "the terminal is as it was before"
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT_S_MAX)
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


@pytest.fixture
def shell(agent: RealAgent, alloc_id: str, terminals: list[Terminal]) -> Terminal:
    """A shell in the task, ready for input."""
    terminals.append(Terminal(agent, "alloc", "exec", "-i", "-t", "-task", "t", alloc_id, "/bin/sh"))
    terminals[0].wait_for("[#$] $")
    terminals[0].type("PS1='ready''> '\r")
    terminals[0].wait_for("ready> $")
    return terminals[0]


def test_a_shell_works_as_at_home(shell: Terminal) -> None:
    shell.type("stty size; echo $NOMAD_TASK_NAME; tty\r")
    shell.wait_for("24 80\r\nt\r\n/dev/pts/")
    shell.type("sh -c 'echo sta''rted; exec sleep 1000'\r")
    shell.wait_for("started\r\n")
    shell.type("\x03")
    shell.wait_for("ready> $")
    shell.type("exit 5\r")
    assert shell.end() == 5


def test_a_new_size_reaches_the_command(shell: Terminal) -> None:
    shell.type("until test \"$(stty size)\" = '50 132'; do echo wait''ing; done; exit\r")
    shell.wait_for("waiting\r\n")
    shell.resize(50, 132)
    assert shell.end() == 0


def test_the_escape_character_ends_the_session(shell: Terminal) -> None:
    shell.type("\r~.")
    shell.wait_for("session terminated by user")
    assert shell.end() == 1


def test_another_escape_character(agent: RealAgent, alloc_id: str, terminals: list[Terminal]) -> None:
    terminal = Terminal(agent, "alloc", "exec", "-it", "-e", "!", "-job", "shell", "sh", "-c", "echo go; cat")
    terminals.append(terminal)
    terminal.wait_for("go\r\n")
    terminal.type("~.\r")
    terminal.wait_for("~.\r\n~.\r\n")
    terminal.type("!.")
    assert terminal.end() == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_is_given_back_by_a_client_that_is_killed(shell: Terminal, number: int) -> None:
    shell.process.send_signal(number)
    assert shell.end() == 128 + number


def test_an_action_runs(agent: RealAgent, alloc_id: str) -> None:
    done = subprocess.run(
        [str(YURT), "action", "-job", "shell", "-group", "g", "-task", "t", "greet"],
        env={**os.environ, "NOMAD_ADDR": agent.address},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_S_MAX,
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "hi t\n", "")


# --- the WebSocket itself -----------------------------------------------------------------------------


def opened(agent: RealAgent, alloc_id: str, command: list[str], **more: Any) -> ClientConnection:
    query = f"task=t&command={json.dumps(command)}".replace(" ", "%20").replace('"', "%22")
    query += more.pop("query", "")
    path = f"/v1/client/allocation/{alloc_id}/exec?{query}"
    socket: ClientConnection = connect(f"ws://127.0.0.1:{agent.http_port}{path}", close_timeout=1, **more)
    return socket


def test_pages_of_other_sites_are_refused(agent: RealAgent, alloc_id: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        opened(agent, alloc_id, ["/bin/true"], origin="http://evil.example")
    assert refused.value.response.status_code == 403
    with opened(agent, alloc_id, ["/bin/true"], origin=f"http://127.0.0.1:{agent.http_port}") as socket:
        assert json.loads(socket.recv(WAIT_S_MAX)) == {"stderr": {"close": True}}


def test_other_routes_are_no_websockets(agent: RealAgent) -> None:
    for path in ("/v1/jobs", "/v1/nosuch"):
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://127.0.0.1:{agent.http_port}{path}")
        assert refused.value.response.status_code == 404


def test_a_token_in_the_handshake_must_be_that_of_the_header(agent: RealAgent, alloc_id: str) -> None:
    headers = {"X-Nomad-Token": "one"}
    with opened(
        agent, alloc_id, ["/bin/true"], query="&ws_handshake=true", additional_headers=headers
    ) as socket:
        socket.send('{"version": 1, "auth_token": "other"}')
        assert _closing(socket) == (1008, "handshake auth token mismatched auth header token")


@pytest.mark.parametrize("message", ["{", "[]", '{"stdin": {"data": "not base64!"}}'])
def test_messages_that_are_none_end_the_session(agent: RealAgent, alloc_id: str, message: str) -> None:
    with opened(agent, alloc_id, ["/bin/cat"]) as socket:
        socket.send(message)
        code, reason = _closing(socket)
    assert code == 1008
    assert reason.startswith("failed to read a message: ")


def _closing(socket: ClientConnection) -> tuple[int, str]:
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(WAIT_S_MAX)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code, closed.value.rcvd.reason


def test_a_command_ends_with_its_caller(agent: RealAgent, alloc_id: str) -> None:
    with opened(agent, alloc_id, ["/bin/sh", "-c", "echo $$; exec sleep 1000"]) as socket:
        held = _held(socket)
    _wait_gone(held)


def test_a_command_does_not_outlive_a_killed_agent(agent: RealAgent, alloc_id: str) -> None:
    """Last, since it kills the agent; the task goes on."""
    command = "trap '' HUP PIPE; echo $$; while :; do sleep 0.1; done"
    with opened(agent, alloc_id, ["/bin/sh", "-c", command]) as socket:
        held = _held(socket)
        agent.kill()
    agent.start()
    _wait_gone(held)
    assert agent.call("GET", f"/v1/allocation/{alloc_id}").json["ClientStatus"] == "running"


def _held(socket: ClientConnection) -> int:
    """A pidfd of the command, which has told its pid."""
    data = json.loads(socket.recv(WAIT_S_MAX))["stdout"]["data"]
    return os.pidfd_open(int(base64.b64decode(data)))


def _wait_gone(held: int) -> None:
    ended = select.poll()
    ended.register(held, select.POLLIN)
    assert ended.poll(WAIT_S_MAX * 1000), "it still runs"
    os.close(held)
