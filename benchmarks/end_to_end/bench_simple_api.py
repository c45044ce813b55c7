"""What the simple API costs: 500 push nodes that beat every 5 s, and 50 submissions a second."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.support.real_agent import RealAgent, clean_up, cpu_seconds, resident_mib

NODES = 500
BEAT_S = 5.0
SUBMISSIONS_PER_S = 50
WARM_UP_S = 6.0
MEASURED_S = 30.0
SETTLE_S = 10.0

# All nodes call from one address here.
ONE_MACHINE = "limits {\n  http_max_conns_per_client = 0\n}\n"

TARGETS = {
    "cores": "<= 0.5",
    "submissions_per_s": ">= 48",
    "heartbeats_per_s": ">= 95",
    "not_running_in_the_end": "<= 0",
}


def run() -> dict[str, float]:
    """Measure a durable server in its own process."""
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as work:
        agent = RealAgent(Path(work), client=False, more_config=ONE_MACHINE)
        agent.start()
        try:
            return asyncio.run(_Fleet(agent).measure())
        finally:
            agent.stop()
            clean_up(Path(work))


class _Fleet:
    """Push nodes that share a listener, each with a path of its own."""

    def __init__(self, agent: RealAgent) -> None:
        self._agent = agent
        self._allocs: list[dict[str, float]] = [{} for _ in range(NODES)]
        self._beats_ms: list[float] = []
        self._submissions_ms: list[float] = []
        self._server = f"http://127.0.0.1:{agent.simple_port}"

    async def measure(self) -> dict[str, float]:
        app = web.Application()
        app.router.add_post("/{node}/allocations", self._take)
        app.router.add_delete("/{node}/allocations/{alloc_id}", self._drop)
        app.router.add_get("/{node}/allocations/{alloc_id}", self._find)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        # Small agents open a connection for each call.
        connector = aiohttp.TCPConnector(force_close=True, limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            for number in range(NODES):
                body = {"ip_address": "127.0.0.1", "endpoint": f"http://127.0.0.1:{port}/{number}"}
                await self._post(session, "/register", {**_common(number), **body})
            beats = [asyncio.ensure_future(self._beat(session, number)) for number in range(NODES)]
            await asyncio.sleep(WARM_UP_S)
            used, began = cpu_seconds(self._agent.pid), time.perf_counter()
            beats_before = len(self._beats_ms)
            await self._submit(session)
            seconds = time.perf_counter() - began
            cores = (cpu_seconds(self._agent.pid) - used) / seconds
            beats_per_s = (len(self._beats_ms) - beats_before) / seconds
            await asyncio.sleep(SETTLE_S)
            broken = [beat for beat in beats if beat.done()]
            assert not broken, f"{len(broken)} nodes gave up, one of them for {broken[0].exception()}"
            for beat in beats:
                beat.cancel()
            async with session.get(f"{self._server}/jobs") as answer:
                jobs = (await answer.json())["jobs"]
        await runner.cleanup()
        running = sum(alloc["status"] == "running" for job in jobs for alloc in job["allocations"])
        return {
            "cores": cores,
            "submissions_per_s": len(self._submissions_ms) / seconds,
            "heartbeats_per_s": beats_per_s,
            "submission_p50_ms": _percentile(self._submissions_ms, 0.5),
            "submission_p99_ms": _percentile(self._submissions_ms, 0.99),
            "heartbeat_p50_ms": _percentile(self._beats_ms, 0.5),
            "heartbeat_p99_ms": _percentile(self._beats_ms, 0.99),
            "running": running,
            "not_running_in_the_end": len(self._submissions_ms) - running,
            "server_mib": resident_mib(self._agent.pid),
        }

    async def _beat(self, session: aiohttp.ClientSession, number: int) -> None:
        await asyncio.sleep(BEAT_S * number / NODES)
        while True:
            began = time.perf_counter()
            words = {
                alloc_id: {
                    "status": "running",
                    "start_time": at,
                    "end_time": None,
                    "tasks": {"t": {"status": "running", "start_time": at, "end_time": None, "message": ""}},
                }
                for alloc_id, at in self._allocs[number].items()
            }
            body = {**_common(number), "timestamp": time.time(), "allocations": words}
            await self._post(session, "/heartbeat", body)
            self._beats_ms.append((time.perf_counter() - began) * 1e3)
            await asyncio.sleep(max(0.0, BEAT_S - (time.perf_counter() - began)))

    async def _submit(self, session: aiohttp.ClientSession) -> None:
        """Submit at an even pace, whatever the answers take."""
        end = time.perf_counter() + MEASURED_S
        due = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            while due < end:
                tasks.create_task(self._submit_one(session))
                due += 1 / SUBMISSIONS_PER_S
                await asyncio.sleep(max(0.0, due - time.perf_counter()))

    async def _submit_one(self, session: aiohttp.ClientSession) -> None:
        began = time.perf_counter()
        task = {"name": "t", "resources": {"cpu": 10, "memory": 10}, "config": {"command": "sleep 1000"}}
        job = {"constraints": {"region": "us-west"}, "task_groups": [{"name": "g", "tasks": [task]}]}
        await self._post(session, "/jobs", job)
        self._submissions_ms.append((time.perf_counter() - began) * 1e3)

    async def _post(self, session: aiohttp.ClientSession, path: str, body: dict[str, Any]) -> None:
        async with session.post(f"{self._server}{path}", json=body) as answer:
            text = await answer.text()
            assert answer.status == 200, text

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.json()
        self._allocs[int(request.match_info["node"])][body["allocation_id"]] = time.time()
        return web.json_response({})

    async def _drop(self, request: web.Request) -> web.Response:
        known = self._allocs[int(request.match_info["node"])].pop(request.match_info["alloc_id"], None)
        return web.json_response({}, status=404 if known is None else 200)

    async def _find(self, request: web.Request) -> web.Response:
        is_here = request.match_info["alloc_id"] in self._allocs[int(request.match_info["node"])]
        return web.json_response({}, status=200 if is_here else 404)


def _common(number: int) -> dict[str, Any]:
    amounts = {"cpu": 500, "memory": 4000, "cpu_used": 500, "memory_used": 4000}
    return {"node_id": f"bench-{number}", "resources": amounts, "healthy": True}


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
