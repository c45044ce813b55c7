"""Running commands as processes against a real agent."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.command_line import Result
from tests.support.pseudo_terminal import PseudoTerminal, on_terminal
from tests.support.real_agent import RealAgent

COMMAND_TIMEOUT_S = 60.0
YURT = (sys.executable, "-m", "yurt.cli.main")


class RealCommands:
    """Runs `yurt` in processes of their own, on pipes or on a terminal, in one directory."""

    def __init__(self, agent: RealAgent, directory: Path) -> None:
        self.agent = agent
        self.directory = directory
        self.environment = clean_environment(directory) | {"YURT_ADDR": agent.address}

    def __call__(self, *arguments: str, stdin: str = "", **variables: str) -> Result:
        """Run a command to its end."""
        done = subprocess.run(
            [*YURT, *arguments],
            cwd=self.directory,
            env=self.environment | variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A command that goes on while the block runs; its output can be read line by line."""
        process = subprocess.Popen(
            [*YURT, *arguments],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=COMMAND_TIMEOUT_S)

    @contextmanager
    def on_terminal(self, *arguments: str, lines: int = 24, columns: int = 80) -> Iterator[PseudoTerminal]:
        """A command on a terminal while the block runs."""
        with on_terminal(
            [*YURT, *arguments],
            environment=self.environment | {"TERM": "xterm-256color"},
            directory=self.directory,
            lines=lines,
            columns=columns,
        ) as terminal:
            yield terminal

    def write(self, name: str, text: str) -> str:
        """Write a file that commands can name."""
        (self.directory / name).write_text(text)
        return name

    def clear(self) -> None:
        """Purge every job."""
        for job in self.agent.call("GET", "/v1/jobs?namespace=*").json:
            self.agent.call("DELETE", f"/v1/job/{job['ID']}?purge=true&namespace={job['Namespace']}")


def clean_environment(home: Path) -> dict[str, str]:
    """The environment without our variables, and with a home directory that nobody else has."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("YURT_", "NOMAD_"))}
    kept.pop("NO_COLOR", None)
    return kept | {"TZ": "UTC", "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}


def read_until(process: subprocess.Popen[str], wanted: str) -> str:
    """Read a process's output up to a line with `wanted`; returns what was read."""
    assert process.stdout is not None
    end = time.monotonic() + COMMAND_TIMEOUT_S
    seen = ""
    while time.monotonic() < end:
        line = process.stdout.readline()
        seen += line
        if wanted in line:
            return seen
        assert line, f"the command ended without {wanted!r}:\n{seen}"
    raise AssertionError(f"{wanted!r} never came:\n{seen}")


def shell_job(job_id: str, script: str, *, kind: str = "batch", count: int = 1, more: str = "") -> str:
    """A job file whose task runs a shell script once, without retries."""
    return f"""
job "{job_id}" {{
  type = "{kind}"
  {more}
  group "g" {{
    count = {count}
    restart {{
      attempts = 0
      mode     = "fail"
    }}
    reschedule {{
      attempts  = 0
      unlimited = false
    }}
    task "t" {{
      driver = "raw_exec"
      config {{
        command = "/bin/sh"
        args    = ["-c", {json.dumps(script)}]
      }}
      resources {{
        cpu    = 20
        memory = 20
      }}
    }}
  }}
}}
"""
