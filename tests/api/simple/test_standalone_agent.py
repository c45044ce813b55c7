"""A standalone agent serves a control plane that is not Yurt's."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.api.simple.simple_calls import wait_until
from tests.support.real_agent import clean_up

SCRIPT = Path(__file__).parent / "control_plane_script.py"
YURT = Path(sys.executable).parent / "yurt"


@contextlib.contextmanager
def process(directory: Path, name: str, *command: str) -> Iterator[Path]:
    """A process for as long as the block lasts; gives its log."""
    path = directory / name
    environment = {**os.environ, "TMPDIR": str(directory)}
    with path.open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        yield path
    finally:
        running.terminate()
        running.wait(30)


def told(log: Path, event: str, wanted: Callable[[Any], Any] = bool) -> Any:
    """Wait until the control plane told something."""

    def find() -> Any:
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
        return next((line for line in lines if line["event"] == event and wanted(line)), None)

    return wait_until(find, lambda found: found is not None)


def _answers(body: Any, line: Any) -> bool:
    return bool(line["body"] == body)


def test_a_standalone_agent_serves_a_control_plane_of_any_kind(tmp_path: Path) -> None:
    config = tmp_path / "agent.hcl"
    with process(tmp_path, "plane.log", sys.executable, str(SCRIPT)) as plane:
        server = f"http://127.0.0.1:{told(plane, 'serving')['port']}"
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = sock.getsockname()[1]
        config.write_text(f"simple_api {{\n  agent_port = {port}\n}}\n")
        agent = (str(YURT), "agent", "--standalone", "--simple-server", server, "-config", str(config))
        with process(tmp_path, "agent.log", *agent):
            joined = told(plane, "register")["body"]
            assert joined["endpoint"] == f"http://127.0.0.1:{port}"
            assert joined["healthy"] is True
            assert joined["resources"].keys() == {"cpu", "memory", "cpu_used", "memory_used"}
            assert joined["resources"]["cpu"] > 0
            for alloc_id in ("goes-on", "ends"):
                accepted = {"message": "Allocation accepted", "allocation_id": alloc_id}
                told(plane, "answered", partial(_answers, accepted))
            told(plane, "answered", lambda line: line["method"] == "DELETE" and line["status"] == 200)
            beat = told(plane, "heartbeat", lambda line: line["body"]["allocations"].keys() == {"ends"})
            body = beat["body"]
            assert body["node_id"] == joined["node_id"]
            assert body["timestamp"] > 1_700_000_000
            assert body["allocations"]["ends"]["tasks"]["t"]["exit_code"] == 0
        clean_up(tmp_path)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("-standalone",), "simple_api.server"),
        (("-standalone", "-simple-server", "host:8500"), "simple_api.server"),
        (("-standalone", "-simple-server", "http://h:8500", "-server"), "simple_api.standalone"),
    ],
)
def test_a_standalone_agent_is_told_what_it_lacks(flags: tuple[str, ...], text: str) -> None:
    ended = subprocess.run([YURT, "agent", *flags], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 1
    assert text in ended.stdout + ended.stderr
