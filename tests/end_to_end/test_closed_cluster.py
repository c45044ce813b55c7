"""A cluster with TLS and tokens, set up with the five commands of the documentation."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import clean_up, free_ports

PAGE = Path(__file__).parents[2] / "docs/acl.md"
BIN = Path(sys.executable).parent
PATIENCE_S = 60.0
LOOK_AGAIN_S = 0.1

JOB = """
job "greeting" {
  type = "batch"
  group "g" {
    task "t" {
      driver = "raw_exec"
      config {
        command = "/bin/echo"
        args    = ["hello"]
      }
    }
  }
}
"""


class Closed:
    """A directory with a cluster in it, and a command line that speaks to it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        text = PAGE.read_text()
        commands = re.search(r"## A closed cluster in five commands\n\n```\n(.*?)```", text, re.DOTALL)
        config = re.search(r"```hcl\n(data_dir.*?)```", text, re.DOTALL)
        assert commands is not None
        assert config is not None
        self.commands = commands[1].splitlines()
        self.http_port, rpc, simple, simple_agent = free_ports(4)
        (directory / "closed.hcl").write_text(config[1])
        # What a machine that runs other tests needs besides; the page's own file is used as it is.
        (directory / "here.hcl").write_text(
            f"""
data_dir  = "{directory}/data"
bind_addr = "127.0.0.1"
advertise {{
  http = "127.0.0.1"
  rpc  = "127.0.0.1"
}}
ports {{
  http = {self.http_port}
  rpc  = {rpc}
}}
simple_api {{
  port       = {simple}
  agent_port = {simple_agent}
}}
audit {{
  enabled = true
}}
plugin "raw_exec" {{
  config {{
    enabled = true
  }}
}}
"""
        )
        self.token = ""

    def run(self, command: str, *, token: str = "", ok: bool = True) -> str:
        """Run a command as a person would; returns what it says."""
        env = {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "YURT_ADDR": f"https://127.0.0.1:{self.http_port}",
            "YURT_CACERT": "nomad-agent-ca.pem",
            "YURT_CLIENT_CERT": "global-cli-nomad.pem",
            "YURT_CLIENT_KEY": "global-cli-nomad-key.pem",
            "YURT_TOKEN": token,
        }
        done = subprocess.run(
            command.split(),
            cwd=self.directory,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) is ok, done.stdout
        return done.stdout

    def audited(self) -> list[dict[str, Any]]:
        """What the audit log says."""
        lines = (self.directory / "data/audit/audit.log").read_text().splitlines()
        return [json.loads(line)["payload"] for line in lines]


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Closed]:
    cluster = Closed(tmp_path)
    *certificates, agent, bootstrap = cluster.commands
    for command in certificates:
        cluster.run(command)
    with (tmp_path / "agent.log").open("wb") as log:
        process = subprocess.Popen(
            [str(BIN / agent.split()[0]), *agent.split()[1:], "-config", "here.hcl"],
            cwd=tmp_path,
            stdout=log,
            stderr=log,
        )
    try:
        said = ""
        end = time.monotonic() + PATIENCE_S
        while "Secret ID" not in said:
            assert process.poll() is None, (tmp_path / "agent.log").read_text()
            assert time.monotonic() < end, said
            with contextlib.suppress(AssertionError):  # it takes a moment to start
                said = cluster.run(bootstrap)
            time.sleep(LOOK_AGAIN_S)
        found = re.search(r"Secret ID\s*=\s*(\S+)", said)
        assert found is not None
        cluster.token = found[1]
        yield cluster
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        clean_up(tmp_path)


def test_five_commands_close_a_cluster(closed: Closed) -> None:
    (closed.directory / "greeting.hcl").write_text(JOB)

    refused = closed.run("yurt job run greeting.hcl", ok=False)
    assert "Permission denied" in refused
    closed.run("yurt job run greeting.hcl", token="5ec2e750-1111-4222-8333-444455556666", ok=False)
    ran = closed.run("yurt job run greeting.hcl", token=closed.token)
    assert 'finished with status "complete"' in ran
    assert "greeting" in closed.run("yurt job status", token=closed.token)

    methods = {event["auth"]["method"] for event in closed.audited() if event["stage"] == "OperationComplete"}
    assert methods == {"anonymous", "refused", "token"}
    written = [
        event
        for event in closed.audited()
        if event["request"]["operation"] in ("PUT", "POST") and event["request"]["endpoint"] == "/v1/jobs"
    ]
    assert {event["response"]["status_code"] for event in written if "response" in event} == {403, 200}
    everything = (closed.directory / "data/audit/audit.log").read_text()
    assert closed.token not in everything + (closed.directory / "agent.log").read_text()
