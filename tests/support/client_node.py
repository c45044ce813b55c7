"""A node in a process of its own that joins the server of another agent."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.real_agent import RealAgent, clean_up

STOP_TIMEOUT_S = 30.0
_YURT = Path(sys.executable).parent / "yurt"


@contextlib.contextmanager
def client_node(directory: Path, server: RealAgent, *, name: str = "node2") -> Iterator[str]:
    """A started node that `server` counts as ready; gives its id. It ends with the block, its tasks too."""
    agent = RealAgent(directory)
    text = agent.config.read_text().replace('"node1"', f'"{name}"')
    text = text.replace("server {\n  enabled = true", "server {\n  enabled = false")
    text += f'\nclient {{\n  servers = ["127.0.0.1:{server.rpc_port}"]\n}}\n'
    agent.config.write_text(text)
    with agent.log.open("ab") as log:
        process = subprocess.Popen(
            [str(_YURT), "agent", "-config", str(agent.config)], stdout=log, stderr=log
        )
    try:
        nodes = server.wait_for(
            "/v1/nodes", lambda nodes: any(n["Name"] == name and n["Status"] == "ready" for n in nodes)
        )
        yield next(node["ID"] for node in nodes if node["Name"] == name)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(STOP_TIMEOUT_S)
        clean_up(directory)
