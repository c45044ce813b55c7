"""An agent in a process of its own, used as its users use it: for tests and benchmarks."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 30.0
_YURT = Path(sys.executable).parent / "yurt"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the API answered."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.text) if self.text else None

    @property
    def index(self) -> int:
        """The index of State that the answer is valid for."""
        return int(self.headers.get("x-nomad-index", 0))


class AgentEnded(Exception):
    """The agent's process ended when it should have served."""


class RealAgent:
    """A durable agent, server and client in one, in `directory`; may be killed and started again."""

    def __init__(
        self,
        directory: Path,
        *,
        client: bool = True,
        more_config: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Write the agent's configuration; `tls` is for calls to an agent that `more_config` gives TLS."""
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self._tls = tls
        # The ACL token that calls carry.
        self.token = ""
        self.http_port, self.rpc_port, self.simple_port, self.simple_agent_port = free_ports(4)
        self._client = client
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: http.client.HTTPConnection | None = None
        self.config = directory / "agent.hcl"
        self.log = directory / "agent.log"
        self.config.write_text(
            f"""
data_dir  = "{directory}/data"
name      = "node1"
bind_addr = "127.0.0.1"
log_level = "INFO"
advertise {{
  http = "127.0.0.1"
  rpc  = "127.0.0.1"
}}
ports {{
  http = {self.http_port}
  rpc  = {self.rpc_port}
}}
simple_api {{
  port       = {self.simple_port}
  agent_port = {self.simple_agent_port}
}}
server {{
  enabled = true
}}
client {{
  enabled = {str(client).lower()}
}}
plugin "raw_exec" {{
  config {{
    enabled = true
  }}
}}
{more_config}
"""
        )

    @property
    def address(self) -> str:
        """Where the API is."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.http_port}"

    @property
    def pid(self) -> int:
        """The agent's process id."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Start the agent and wait until it serves; returns how many seconds that took."""
        began = time.perf_counter()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(_YURT), "agent", "-config", str(self.config)], stdout=log, stderr=log
            )
        end = began + START_TIMEOUT_S
        while time.perf_counter() < end:
            if self._process.poll() is not None:
                raise AgentEnded(f"exit {self._process.returncode}: {self.log.read_text()[-3000:]}")
            if self._is_ready():
                return time.perf_counter() - began
            time.sleep(0.01)
        raise AgentEnded(f"not ready in {START_TIMEOUT_S} s: {self.log.read_text()[-3000:]}")

    def kill(self) -> None:
        """End the agent with SIGKILL, as a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(STOP_TIMEOUT_S)
        self._disconnect()

    def stop(self) -> int:
        """End the agent with SIGTERM; returns its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(STOP_TIMEOUT_S)
        self._disconnect()
        return code

    def hang_up(self) -> None:
        """Make the agent read its configuration again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGHUP)

    def connect(self) -> http.client.HTTPConnection:
        """A new keep-alive connection to the API."""
        if self._tls is not None:
            return http.client.HTTPSConnection("127.0.0.1", self.http_port, timeout=120, context=self._tls)
        return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=120)

    def call(self, method: str, path: str, body: object = None) -> Answer:
        """Make one call, over a connection that is kept."""
        if self._connection is None:
            self._connection = self.connect()
        try:
            return send(self._connection, method, path, body, token=self.token)
        except (OSError, http.client.HTTPException):
            self._disconnect()
            raise

    def wait_for(self, path: str, wanted: Any, timeout_s: float = 30.0) -> Any:
        """Block on `path` until `wanted(body)` holds; returns that body."""
        end = time.monotonic() + timeout_s
        index, body = 0, None
        while time.monotonic() < end:
            sign = "&" if "?" in path else "?"
            answer = self.call("GET", f"{path}{sign}index={index}&wait=2s")
            body, index = (answer.json if answer.status == 200 else None), answer.index
            if body is not None and wanted(body):
                return body
            if answer.status != 200:
                time.sleep(0.05)
        raise TimeoutError(f"{path} never became as wanted: {str(body)[:2000]}")

    def _is_ready(self) -> bool:
        try:
            if self.call("GET", "/.well-known/jwks.json").status != 200:
                return False
            nodes = self.call("GET", "/v1/nodes")
        except (OSError, http.client.HTTPException):
            return False
        if nodes.status == 403:  # without a token nobody is told more
            return True
        return not self._client or any(node["Status"] == "ready" for node in nodes.json)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextlib.contextmanager
def running_agent(
    directory: Path, *, client: bool = True, more_config: str = "", tls: ssl.SSLContext | None = None
) -> Iterator[RealAgent]:
    """A started agent that is stopped, with all its tasks, when the block ends."""
    agent = RealAgent(directory, client=client, more_config=more_config, tls=tls)
    agent.start()
    try:
        yield agent
    finally:
        with contextlib.suppress(OSError, http.client.HTTPException):
            for job in agent.call("GET", "/v1/jobs?namespace=*").json:
                agent.call("DELETE", f"/v1/job/{job['ID']}?purge=true&namespace={job['Namespace']}")
        agent.stop()
        clean_up(directory)


def clean_up(directory: Path) -> None:
    """End every process that names `directory`, launchers and their tasks; unmount what is below."""
    needle = str(directory).encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            if needle in told and int(entry.name) != os.getpid():
                os.kill(int(entry.name), signal.SIGKILL)
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    below = [path for path in mounts if path.startswith(f"{directory}/")]
    if below:
        subprocess.run(["umount", "-l", *reversed(below)], check=True)


def send(
    connection: http.client.HTTPConnection, method: str, path: str, body: object = None, *, token: str = ""
) -> Answer:
    """Make one call over a connection; a body that is not bytes is sent as JSON."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {"X-Nomad-Token": token} if token else {})
    response = connection.getresponse()
    text = response.read().decode(errors="replace")
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(status=response.status, headers=headers, text=text)


def resident_mib(pid: int) -> float:
    """The memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address that nobody uses now."""
    with contextlib.ExitStack() as open_sockets:
        sockets = [open_sockets.enter_context(socket.socket()) for _ in range(count)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [int(sock.getsockname()[1]) for sock in sockets]
