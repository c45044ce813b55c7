"""An agent in a process of its own, for benchmarks that use it as its users do."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

START_TIMEOUT_S = 20.0


class AgentProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A running agent."""

    port: int
    pid: int
    ready_s: float

    def connect(self) -> http.client.HTTPConnection:
        """A keep-alive connection to its API."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)


def call(
    connection: http.client.HTTPConnection, method: str, path: str, body: object = None
) -> tuple[int, Any]:
    """Make one call; returns the index of the answer and its JSON."""
    connection.request(method, path, json.dumps(body) if body is not None else None)
    response = connection.getresponse()
    text = response.read()
    if response.status >= 400:
        raise RuntimeError(f"{method} {path}: {response.status} {text[:300]!r}")
    return int(response.headers.get("X-Nomad-Index", 0)), json.loads(text) if text else None


@contextlib.contextmanager
def agent(*, client: bool = True, data_dir: Path | None = None) -> Iterator[AgentProcess]:
    """Run a durable agent, server and client in one, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as work:
        ports = [_free_port() for _ in range(4)]
        config = Path(work) / "agent.hcl"
        config.write_text(
            f"""
            data_dir = "{data_dir or work + "/data"}"
            bind_addr = "127.0.0.1"
            advertise {{
              http = "127.0.0.1"
              rpc  = "127.0.0.1"
            }}
            log_level = "WARN"
            ports {{
              http = {ports[0]}
              rpc  = {ports[1]}
            }}
            simple_api {{
              port       = {ports[2]}
              agent_port = {ports[3]}
            }}
            server {{ enabled = true }}
            client {{ enabled = {str(client).lower()} }}
            plugin "raw_exec" {{ config {{ enabled = true }} }}
            """
        )
        began = time.perf_counter()
        with (Path(work) / "agent.log").open("wb") as log:
            command = [str(Path(sys.executable).parent / "yurt"), "agent", "-config", str(config)]
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait_until_ready(ports[0], process, Path(work) / "agent.log", client=client)
            yield AgentProcess(port=ports[0], pid=process.pid, ready_s=time.perf_counter() - began)
        finally:
            process.terminate()
            process.wait(timeout=30)


def resident_mib(pid: int) -> float:
    """The memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path, *, client: bool) -> None:
    end = time.perf_counter() + START_TIMEOUT_S
    while time.perf_counter() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the agent ended with {process.returncode}: {log.read_text()[-2000:]}")
        with contextlib.suppress(OSError, http.client.HTTPException, RuntimeError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            call(connection, "GET", "/.well-known/jwks.json")
            nodes = call(connection, "GET", "/v1/nodes")[1]
            if not client or any(node["Status"] == "ready" for node in nodes):
                return
        time.sleep(0.01)
    raise RuntimeError(f"the agent was not ready in {START_TIMEOUT_S} s: {log.read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
