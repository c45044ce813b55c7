"""A durable server and thousands of simulated nodes: from a job's registration to its running instances."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.http_load import load, request
from tests.support.real_agent import RealAgent, clean_up, resident_mib

YURT = Path(sys.executable).parent / "yurt"
CONNECTIONS = 64
RACKS = 50
TIMEOUT_S = 120.0
POLL_S = 0.02
LATENCY_REGISTRATIONS = 1_000
LATENCY_INSTANCES = 10_000

TARGETS = {
    "jobs_1x10000_on_1000_placed_per_s": ">= 30000",
    "jobs_1x50000_on_5000_placed_per_s": ">= 30000",
    "jobs_1000x10_on_1000_placed_per_s": ">= 5000",
    "jobs_2000x1_on_5000_placed_per_s": ">= 1500",
}


def run() -> dict[str, float]:
    """Return placements and starts a second for each case; each has a server and nodes of its own."""
    figures: dict[str, float] = {}
    for nodes, jobs, count, kind in (
        (1_000, 1, 10_000, "service"),
        (5_000, 1, 50_000, "service"),
        (5_000, 100, 100, "service"),
        (1_000, 1_000, 10, "batch"),
        (5_000, 2_000, 1, "service"),
    ):
        name = f"jobs_{jobs}x{count}_on_{nodes}"
        figures |= _case(name, nodes, [_job(f"job-{n}", kind, count) for n in range(jobs)], jobs * count)
    spread = _job("spread", "service", 1_000)
    spread["Spreads"] = [{"Attribute": "${meta.rack}", "Weight": 100}]
    figures |= _case("spread_1000_on_1000", 1_000, [spread], 1_000)
    figures |= _case("system_on_5000", 5_000, [_job("everywhere", "system", 1)], 5_000)
    return figures | _latency_under_load()


def _case(name: str, nodes: int, jobs: list[dict[str, Any]], total: int) -> dict[str, float]:
    with _cluster(nodes) as agent:
        began = time.perf_counter()
        sent = load("127.0.0.1", agent.http_port, [_registration(job) for job in jobs], CONNECTIONS)
        assert not sent.failures, f"{name}: {sent.failures} registrations failed"
        placed_s, running_s = _wait(agent, jobs[-1]["ID"], total, began)
        return {
            f"{name}_placed_per_s": total / placed_s,
            f"{name}_running_per_s": total / running_s,
            f"{name}_server_mib": resident_mib(agent.pid),
        }


def _latency_under_load() -> dict[str, float]:
    """How long registrations take while many placements are in flight."""
    with _cluster(1_000) as agent:
        began = time.perf_counter()
        agent.call("PUT", "/v1/jobs", {"Job": _job("large", "service", LATENCY_INSTANCES)})
        answered = load(
            "127.0.0.1",
            agent.http_port,
            [_registration(_job(f"small-{n}", "service", 0)) for n in range(LATENCY_REGISTRATIONS)],
            1,
        )
        assert not answered.failures, f"{answered.failures} registrations failed"
        _wait(agent, "large", LATENCY_INSTANCES, began)
        return {
            "register_in_flight_p50_ms": answered.percentile_ms(0.5),
            "register_in_flight_p99_ms": answered.percentile_ms(0.99),
            "register_in_flight_worst_ms": max(answered.latencies_ms),
        }


@contextmanager
def _cluster(nodes: int) -> Iterator[RealAgent]:
    """A server with simulated nodes, all of them ready."""
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as work:
        agent = RealAgent(Path(work), client=False)
        agent.start()
        address = f"http://127.0.0.1:{agent.http_port}"
        options = [
            "-count",
            str(nodes),
            "-racks",
            str(RACKS),
            "-cpu",
            "400000",
            "-memory",
            "800000",
            "-sleep",
        ]
        simulation = subprocess.Popen(
            [str(YURT), "node", "simulate", "-address", address, *options], stdout=subprocess.PIPE, text=True
        )
        try:
            assert simulation.stdout is not None
            assert simulation.stdout.readline(), "the simulation ended before its nodes were ready"
            # What it says later must not fill the pipe.
            threading.Thread(target=simulation.stdout.read, daemon=True).start()
            yield agent
        finally:
            simulation.terminate()
            simulation.wait()
            agent.stop()
            clean_up(Path(work))


def _wait(agent: RealAgent, last: str, total: int, began: float) -> tuple[float, float]:
    """Seconds from `began` until all instances were placed, and until all ran.

    Listing many jobs is work for the server, too: until the `last` job is placed, only that is asked for.
    """
    placed_s, running = 0.0, 0
    while time.perf_counter() - began < TIMEOUT_S:
        count = agent.call("GET", f"/v1/job/{last}/summary").json["Summary"]["g"]
        if count["Running"] + count["Starting"]:
            break
        time.sleep(POLL_S)
    while time.perf_counter() - began < TIMEOUT_S:
        counts = [job["JobSummary"]["Summary"]["g"] for job in agent.call("GET", "/v1/jobs").json]
        running = sum(count["Running"] for count in counts)
        now_s = time.perf_counter() - began
        if not placed_s and running + sum(count["Starting"] for count in counts) >= total:
            placed_s = now_s
        if running >= total:
            return placed_s, now_s
        time.sleep(POLL_S)
    raise TimeoutError(f"{running} of {total} instances run after {TIMEOUT_S} s")


def _registration(job: dict[str, Any]) -> bytes:
    return request("PUT", "/v1/jobs", json.dumps({"Job": job}).encode())


def _job(job_id: str, kind: str, count: int) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "mock_driver",
        "Config": {"run_for": "1h"},
        "Resources": {"CPU": 10, "MemoryMB": 10},
        "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
    }
    group: dict[str, Any] = {"Name": "g", "Count": count, "EphemeralDisk": {"SizeMB": 10}, "Tasks": [task]}
    if kind != "batch":
        group["Update"] = {"MaxParallel": 0}
    return {"ID": job_id, "Name": job_id, "Type": kind, "TaskGroups": [group]}
