"""Calling the simple API of a real agent, and waiting for what it shows."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.support.real_agent import Answer, send

PATIENCE_S = 60.0
# The simple API has no blocking queries: what is awaited there is asked for again and again.
POLL_S = 0.1
SCRIPT = Path(__file__).parent / "push_node_script.py"


class SimpleClient:
    """Calls one listener of the simple dialect."""

    def __init__(self, port: int) -> None:
        self.port = port

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """Make one call."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            return send(connection, method, path, body)

    def ok(self, method: str, path: str, body: Any = None) -> Any:
        """Make one call that must succeed; gives its body."""
        answer = self.call(method, path, body)
        assert answer.status == 200, answer.text
        return answer.json

    def job_when(self, job_id: str, wanted: Callable[[Any], Any]) -> Any:
        """A job's view, once it is as wanted."""
        return wait_until(lambda: self.ok("GET", f"/jobs/{job_id}"), wanted)

    def node_when(self, node_id: str, wanted: Callable[[Any], Any]) -> Any:
        """A node's view, once it is as wanted."""

        def find() -> Any:
            nodes = self.ok("GET", "/nodes")["nodes"]
            return next((node for node in nodes if node["node_id"] == node_id), None)

        return wait_until(find, lambda node: node is not None and wanted(node))


def wait_until(look: Callable[[], Any], wanted: Callable[[Any], Any]) -> Any:
    """Look again and again until it is as wanted."""
    end = time.monotonic() + PATIENCE_S
    while True:
        found = look()
        if wanted(found):
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"never became as wanted: {str(found)[:3000]}")
        time.sleep(POLL_S)


class PushNode:
    """The script of a push node in a process of its own."""

    def __init__(self, directory: Path, server: str, node_id: str) -> None:
        self.node_id = node_id
        self.faults = directory / f"{node_id}.faults"
        self.log = directory / f"{node_id}.log"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(SCRIPT), server, node_id, str(self.faults)],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.wait_for("registered")

    def misbehave(self, *faults: str) -> None:
        """Have it do wrong from now on; nothing makes it behave."""
        self.faults.write_text(" ".join(faults))

    def events(self, name: str) -> list[Any]:
        """What the script told of one kind."""
        told = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [event for event in told if event["event"] == name]

    def wait_for(self, name: str, wanted: Callable[[Any], Any] = bool) -> Any:
        """Wait until the script told something."""

        def found() -> Any:
            assert self._process.poll() is None, self.log.read_text()
            return next((event for event in self.events(name) if wanted(event)), None)

        return wait_until(found, lambda event: event is not None)

    def posted(self, alloc_id: str) -> list[Any]:
        """The deliveries of one allocation."""
        return [event for event in self.events("posted") if event["body"]["allocation_id"] == alloc_id]

    def kill(self) -> None:
        """End it as a crash would; what it started goes on."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End it with everything that it started."""
        self.kill()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


@contextlib.contextmanager
def push_node(directory: Path, server: str, node_id: str) -> Iterator[PushNode]:
    """A push node for as long as the block lasts."""
    node = PushNode(directory, server, node_id)
    try:
        yield node
    finally:
        node.end()


def statuses(view: Any) -> list[str]:
    """The statuses of a job's allocations."""
    return [alloc["status"] for alloc in view["allocations"]]


def current(view: Any, status: str = "running") -> Any:
    """The allocation of a job that has a status; there must be one."""
    (found,) = [alloc for alloc in view["allocations"] if alloc["status"] == status]
    return found
