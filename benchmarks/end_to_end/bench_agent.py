"""What a user feels of one durable agent: starts, ends, bursts, registrations, idling."""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.http_load import load, request
from tests.support.real_agent import Answer, RealAgent, clean_up, cpu_seconds, resident_mib, send

STARTS = 60
ENDS = 40
BURST = 100
REGISTRATIONS = 10_000
CONNECTIONS = 64
IDLE_S = 10.0

TARGETS = {
    "ready_s": "<= 2",
    "start_p50_ms": "<= 15",
    "start_p99_ms": "<= 50",
    "batch_complete_p50_ms": "<= 40",
    "burst_100_running_s": "<= 0.7",
    "register_per_s": ">= 3000",
    "idle_mib": "<= 120",
    "idle_core_percent": "<= 1",
}


def run() -> dict[str, float]:
    """Measure one agent in its own process."""
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as work:
        try:
            return _measure(Path(work))
        finally:
            clean_up(Path(work))


def _measure(work: Path) -> dict[str, float]:
    process = RealAgent(work)
    out = work / "out"
    out.mkdir()
    ready_s = process.start()
    try:
        time.sleep(2)
        used, began = cpu_seconds(process.pid), time.perf_counter()
        time.sleep(IDLE_S)
        idle_percent = (cpu_seconds(process.pid) - used) / (time.perf_counter() - began) * 100
        idle_mib = resident_mib(process.pid)
        starts = _starts(process, out)
        ends = _ends(process)
        burst_s = _burst(process, out)
        registrations = load("127.0.0.1", process.http_port, _registrations(), CONNECTIONS)
    finally:
        process.stop()
    assert registrations.failures == 0, f"{registrations.failures} registrations failed"
    return {
        "ready_s": ready_s,
        "start_p50_ms": _percentile(starts, 0.5),
        "start_p99_ms": _percentile(starts, 0.99),
        "batch_complete_p50_ms": _percentile(ends, 0.5),
        "batch_complete_p99_ms": _percentile(ends, 0.99),
        "burst_100_running_s": burst_s,
        "register_per_s": registrations.per_second,
        "register_p50_ms": registrations.percentile_ms(0.5),
        "register_p99_ms": registrations.percentile_ms(0.99),
        "idle_mib": idle_mib,
        "idle_core_percent": idle_percent,
    }


def _starts(process: RealAgent, out: Path) -> list[float]:
    """POST of a one-task job to the task's first instruction, which writes down the time."""
    connection = process.connect()
    latencies = []
    for _ in range(STARTS):
        job_id = f"start-{uuid.uuid4().hex[:8]}"
        written = out / job_id
        began = time.time()
        command = f"date +%s.%N > {written}; exec sleep 300"
        _call(connection, "PUT", "/v1/jobs", _job(job_id, "service", command))
        latencies.append((_wait_for(written) - began) * 1e3)
        _call(connection, "DELETE", f"/v1/job/{job_id}?purge=true")
    return latencies


def _ends(process: RealAgent) -> list[float]:
    """POST of a batch job that exits at once to `complete` seen by a blocking query."""
    connection = process.connect()
    latencies = []
    for _ in range(ENDS):
        job_id = f"end-{uuid.uuid4().hex[:8]}"
        began = time.time()
        _call(connection, "PUT", "/v1/jobs", _job(job_id, "batch", "exit 0"))
        index = 0
        while True:
            path = f"/v1/job/{job_id}/allocations?index={index}&wait=10s"
            answer = _call(connection, "GET", path)
            index, allocs = answer.index, answer.json
            if allocs and allocs[0]["ClientStatus"] in ("complete", "failed"):
                break
        latencies.append((time.time() - began) * 1e3)
        _call(connection, "DELETE", f"/v1/job/{job_id}?purge=true")
    return latencies


def _burst(process: RealAgent, out: Path) -> float:
    """One job with many instances: POST to the last task's first instruction."""
    connection = process.connect()
    job_id = f"burst-{uuid.uuid4().hex[:8]}"
    directory = out / job_id
    directory.mkdir()
    command = f"date +%s.%N > {directory}/$NOMAD_ALLOC_INDEX; exec sleep 300"
    began = time.time()
    _call(connection, "PUT", "/v1/jobs", _job(job_id, "batch", command, count=BURST))
    last = max(_wait_for(directory / str(index)) for index in range(BURST))
    _call(connection, "DELETE", f"/v1/job/{job_id}?purge=true")
    time.sleep(3)
    return last - began


def _registrations() -> list[bytes]:
    return [
        request("PUT", "/v1/jobs", json.dumps(_job(f"reg-{n}", "service", "true", count=0)).encode())
        for n in range(REGISTRATIONS)
    ]


def _job(job_id: str, kind: str, command: str, count: int = 1) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", command]},
        "Resources": {"CPU": 1, "MemoryMB": 10},
        "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
    }
    group = {
        "Name": "g",
        "Count": count,
        "RestartPolicy": {"Attempts": 0, "Mode": "fail", "Interval": 60 * 10**9, "Delay": 10**9},
        "EphemeralDisk": {"SizeMB": 10},
        "Tasks": [task],
    }
    return {"Job": {"ID": job_id, "Name": job_id, "Type": kind, "TaskGroups": [group]}}


def _call(connection: HTTPConnection, method: str, path: str, body: object = None) -> Answer:
    answer = send(connection, method, path, body)
    assert answer.status < 400, f"{method} {path}: {answer.status} {answer.text[:300]}"
    return answer


def _wait_for(path: Path) -> float:
    """The time that a task wrote into `path`."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text().strip()):
            return float(text)
        time.sleep(0.002)
    raise TimeoutError(f"no task wrote {path}")


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
