"""A thousand blocked queries and two hundred event readers while jobs are written and a long list is read."""

from __future__ import annotations

import asyncio
import json
import time

import aiohttp
import uvloop

from benchmarks.api.served import STALL_PATH, served_process

BLOCKED = 1_000
READERS = 200
ALLOCS = 100_000
WRITES = 50

TARGETS = {"many_readers_worst_stall_ms": "<= 50"}


def run() -> dict[str, float]:
    """Measure a server with a hundred thousand allocations; every reader has a connection of its own."""
    with served_process(nodes=1_000, jobs=100, per_job=ALLOCS // 100) as served:
        return uvloop.run(_measure(f"http://127.0.0.1:{served.port}"))


async def _measure(address: str) -> dict[str, float]:
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(address, connector=connector, timeout=timeout) as session:
        readers = [asyncio.ensure_future(_read_events(session)) for _ in range(READERS)]
        # An index far ahead: they wait until they are cancelled, and look again with every write.
        blocked = [
            asyncio.ensure_future(_read(session, f"/v1/job/job-{n % 100}?index=1000000&wait=300s"))
            for n in range(BLOCKED)
        ]
        await asyncio.sleep(2)
        await _read(session, STALL_PATH)
        listing = asyncio.ensure_future(_read(session, "/v1/allocations"))
        latencies = [await _write(session, number) for number in range(WRITES)]
        await listing
        stall_ms = float(await _read(session, STALL_PATH))
        for one in (*readers, *blocked):
            one.cancel()
        await asyncio.gather(*readers, *blocked, return_exceptions=True)
    ordered = sorted(latencies)
    return {
        "many_readers_worst_stall_ms": stall_ms,
        "many_readers_write_p50_ms": ordered[len(ordered) // 2] * 1e3,
        "many_readers_write_worst_ms": ordered[-1] * 1e3,
    }


async def _read(session: aiohttp.ClientSession, path: str) -> bytes:
    async with session.get(path) as answer:
        return await answer.read()


async def _read_events(session: aiohttp.ClientSession) -> None:
    async with session.get("/v1/event/stream?topic=Job") as answer:
        async for _ in answer.content:
            pass


async def _write(session: aiohttp.ClientSession, number: int) -> float:
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
    name = f"written-{number}"
    job = {"ID": name, "Name": name, "TaskGroups": [{"Name": "g", "Count": 0, "Tasks": [task]}]}
    began = time.perf_counter()
    async with session.put("/v1/jobs", data=json.dumps({"Job": job})) as answer:
        assert answer.status == 200, await answer.text()
    return time.perf_counter() - began
