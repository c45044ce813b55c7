"""A thousand blocked queries and two hundred readers of events at once, on one server."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from tests.support.real_agent import RealAgent, running_agent

BLOCKED = 1_000
READERS = 200
WAIT_S = 60
TIMEOUT_S = 120
# All come from one address here, where clusters see many.
UNLIMITED = "limits {\n  http_max_conns_per_client = 0\n  rpc_max_conns_per_client = 0\n}\n"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    with running_agent(tmp_path_factory.mktemp("agent"), client=False, more_config=UNLIMITED) as started:
        yield started


def a_job(job_id: str) -> dict[str, Any]:
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
    return {"Job": {"ID": job_id, "Name": job_id, "TaskGroups": [{"Name": "g", "Count": 0, "Tasks": [task]}]}}


async def _is_blocked_until_changed(session: aiohttp.ClientSession, index: int) -> list[str]:
    path = f"/v1/namespaces?index={index}&wait={WAIT_S}s"
    async with session.get(path) as answer:
        assert answer.status == 200
        assert int(answer.headers["X-Nomad-Index"]) > index
        return [one["Name"] for one in await answer.json()]


async def _first_event(session: aiohttp.ClientSession, ready: asyncio.Semaphore) -> str:
    async with session.get("/v1/event/stream?topic=Job:told") as answer:
        async for line in answer.content:
            if line == b"{}\n":
                ready.release()
                continue
            return str(json.loads(line)["Events"][0]["Key"])
    raise AssertionError("the stream ended")


async def test_all_of_them_are_told_of_one_change(agent: RealAgent) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        aiohttp.ClientSession(agent.address, connector=connector) as session,
        asyncio.timeout(TIMEOUT_S),
    ):
        async with session.put("/v1/jobs", json=a_job("first")) as answer:
            assert answer.status == 200
        # Nothing but this test changes namespaces.
        async with session.get("/v1/namespaces") as answer:
            index = int(answer.headers["X-Nomad-Index"])
        ready = asyncio.Semaphore(0)
        readers = [asyncio.ensure_future(_first_event(session, ready)) for _ in range(READERS)]
        blocked = [asyncio.ensure_future(_is_blocked_until_changed(session, index)) for _ in range(BLOCKED)]
        for _ in range(READERS):
            await ready.acquire()
        # Others are served meanwhile, also while the last of the blocked ones arrive.
        for _ in range(20):
            async with session.get("/v1/job/first") as answer:
                assert answer.status == 200
        assert not any(one.done() for one in (*blocked, *readers))
        async with session.put("/v1/jobs", json=a_job("told")) as answer:
            assert answer.status == 200
        async with session.put("/v1/namespace", json={"Name": "told"}) as answer:
            assert answer.status == 200
        assert set(await asyncio.gather(*readers)) == {"told"}
        for found in await asyncio.gather(*blocked):
            assert found == ["default", "told"]


async def test_queries_end_when_their_callers_hang_up(agent: RealAgent) -> None:
    async with aiohttp.ClientSession(agent.address) as session:
        async with session.get("/v1/namespaces") as answer:
            index = answer.headers["X-Nomad-Index"]
        waiting = [asyncio.ensure_future(_is_blocked_until_changed(session, int(index))) for _ in range(10)]
        await asyncio.sleep(0)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        async with session.get("/v1/agent/health") as answer:
            assert answer.status == 200
