"""How long a command takes from the shell's view, on a warm disk."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.real_agent import running_agent

TARGETS = {"version_p50_ms": "<= 120", "job_status_p50_ms": "<= 250"}

ROUNDS = 15
JOBS = 20
YURT = Path(sys.executable).with_name("yurt")


def run() -> dict[str, float]:
    """Time `yurt version` and `yurt job status` with a few jobs there."""
    with tempfile.TemporaryDirectory() as directory, running_agent(Path(directory), client=False) as agent:
        for number in range(JOBS):
            task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
            job = {"ID": f"job-{number}", "Type": "batch", "TaskGroups": [{"Name": "g", "Tasks": [task]}]}
            agent.call("PUT", "/v1/jobs", {"Job": job})
        environment = {**os.environ, "YURT_ADDR": agent.address}
        return {
            "version_p50_ms": _median_ms(["version"], environment),
            "job_status_p50_ms": _median_ms(["job", "status"], environment),
            "job_status_one_p50_ms": _median_ms(["job", "status", "job-7"], environment),
        }


def _median_ms(arguments: list[str], environment: dict[str, str]) -> float:
    times = []
    for round_number in range(ROUNDS + 1):
        began = time.perf_counter()
        subprocess.run([YURT, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
        if round_number:  # the first one warms the disk
            times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)
