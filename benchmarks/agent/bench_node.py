"""Time a node agent from an allocation's arrival to its process, and weigh it with a thousand that sleep."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median, quantiles

import msgspec
import uvloop

from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.fake_servers import FakeServers
from tests.support.real_agent import RealAgent, clean_up, cpu_seconds, resident_mib
from yurt.agent.agent import NodeAgent
from yurt.agent.settings import ClientSettings
from yurt.clock import SystemClock
from yurt.model.client_protocol import ClientAlloc
from yurt.model.wire import AllocID
from yurt.observe import logger as log_setup

STARTS = 200
PAUSE_S = 0.03  # between starts, as on a node that is not busy
SLEEPERS = 1000
SETTLE_S = 5.0
WATCHED_S = 10.0

TARGETS = {
    "start_p50_ms": "<= 5",
    "sleepers_agent_core_percent": "<= 5",
    "sleepers_agent_mib": "<= 200",
    "sleepers_supervisor_pss_mib": "<= 2",
}


def run() -> dict[str, float]:
    """Measure starts in this process, which allocations reach at once, and sleepers in an agent's own."""
    log_setup.configure("ERROR", json=False, stream=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as name:
        # Tasks run as other users, too.
        Path(name).chmod(0o755)
        try:
            starts = uvloop.run(_starts(Path(name)))
        finally:
            clean_up(Path(name))
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as name:
        try:
            return starts | _sleepers(Path(name))
        finally:
            clean_up(Path(name))


async def _starts(directory: Path) -> dict[str, float]:
    fifo = directory / "mailbox"
    os.mkfifo(fifo)
    mailbox = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    servers = FakeServers()
    settings = ClientSettings(
        state_dir=str(directory / "client"),
        alloc_dir=str(directory / "alloc"),
        driver_configs={"raw_exec": {"enabled": True}},
    )
    agent = await NodeAgent.open(settings, servers, SystemClock(), Random(1))
    running = asyncio.create_task(agent.run())
    latencies = []
    try:
        await servers.until(lambda: bool(servers.nodes))
        for number in range(STARTS):
            await asyncio.sleep(PAUSE_S)
            alloc = _alloc(number, f"echo > {fifo}")
            begun = time.perf_counter()
            servers.place(alloc)
            await _first_instruction(mailbox)
            latencies.append((time.perf_counter() - begun) * 1e3)
    finally:
        running.cancel()
        await asyncio.wait({running})
        await agent.close()
        os.close(mailbox)
    return {"start_p50_ms": median(latencies), "start_p99_ms": quantiles(latencies, n=100)[98]}


def _alloc(number: int, command: str) -> ClientAlloc:
    task = a_task(driver="raw_exec", config={"command": "/bin/sh", "args": ["-c", command]})
    alloc_id = AllocID(f"5b0c1a2d-0000-4000-8000-{number:012d}")
    return msgspec.structs.replace(an_alloc(a_job(task)), id=alloc_id)


async def _first_instruction(mailbox: int) -> None:
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    loop.add_reader(mailbox, arrived.set)
    await arrived.wait()
    loop.remove_reader(mailbox)
    os.read(mailbox, 1)


def _sleepers(directory: Path) -> dict[str, float]:
    agent = RealAgent(directory)
    agent.start()
    try:
        task = {
            "Name": "t",
            "Driver": "raw_exec",
            "Config": {"command": "/bin/sleep", "args": ["1000"]},
            "Resources": {"CPU": 1, "MemoryMB": 10},
            "LogConfig": {"MaxFiles": 1, "MaxFileSizeMB": 1},
        }
        group = {"Name": "g", "Count": SLEEPERS, "EphemeralDisk": {"SizeMB": 10}, "Tasks": [task]}
        job = {"ID": "many", "Name": "many", "Type": "batch", "Datacenters": ["dc1"], "TaskGroups": [group]}
        begun = time.perf_counter()
        assert agent.call("PUT", "/v1/jobs", {"Job": job}).status == 200
        agent.wait_for(
            "/v1/job/many/summary", lambda told: told["Summary"]["g"]["Running"] == SLEEPERS, timeout_s=120.0
        )
        running_s = time.perf_counter() - begun
        time.sleep(SETTLE_S)
        used, begun = cpu_seconds(agent.pid), time.perf_counter()
        time.sleep(WATCHED_S)
        percent = (cpu_seconds(agent.pid) - used) / (time.perf_counter() - begun) * 100
        supervisors = _supervisors(directory)
        assert len(supervisors) >= SLEEPERS, f"{len(supervisors)} supervisors for {SLEEPERS} tasks"
        return {
            "sleepers_running_s": running_s,
            "sleepers_agent_core_percent": percent,
            "sleepers_agent_mib": resident_mib(agent.pid),
            "sleepers_supervisor_pss_mib": sum(_pss_kib(pid) for pid in supervisors)
            / 1024
            / len(supervisors),
        }
    finally:
        agent.kill()


def _supervisors(directory: Path) -> list[int]:
    """The processes that hold a record of a task."""
    records = (directory / "data/client/launcher/tasks").iterdir()
    facts = [dict(line.split("=", 1) for line in path.read_text().splitlines() if line) for path in records]
    return [int(fact["supervisor"]) for fact in facts if "supervisor" in fact]


def _pss_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
