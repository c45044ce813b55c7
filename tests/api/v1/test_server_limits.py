"""What a server is told about jobs and searches holds for requests."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.api.v1.served import Served
from yurt.clock import SystemClock
from yurt.server.server import Server
from yurt.server.settings import SearchLimits, ServerSettings


async def served_with(**settings: Any) -> Served:
    return Served(await Server.open(ServerSettings(name="node1", **settings), SystemClock(), Random(2)))


async def test_a_job_without_a_priority_gets_the_configured_one() -> None:
    served = await served_with(job_priority_default=70)
    await served.register("plain")
    await served.register("own", Priority=20)
    assert (await served.call("GET", "/v1/job/plain")).json["Priority"] == 70
    assert (await served.call("GET", "/v1/job/own")).json["Priority"] == 20


@pytest.mark.parametrize(("priority", "status"), [(200, 200), (201, 500)])
async def test_priorities_end_at_the_configured_one(priority: int, status: int) -> None:
    served = await served_with(job_priority_max=200)
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
    job = {
        "ID": "high",
        "Priority": priority,
        "Datacenters": ["dc1"],
        "TaskGroups": [{"Name": "g", "Tasks": [task]}],
    }
    reply = await served.call("PUT", "/v1/jobs", {"Job": job})
    assert reply.status == status, reply.text
    if status != 200:
        assert "between [1, 200]" in reply.text


async def test_an_evaluation_may_be_as_urgent_as_a_job() -> None:
    served = await served_with(job_priority_max=200)
    await served.register("web")
    assert (await served.call("DELETE", "/v1/job/web?eval_priority=150")).status == 200
    refused = await served.call("DELETE", "/v1/job/web?eval_priority=201")
    assert (refused.status, refused.text) == (400, "Eval priority must be between 1 and 200 inclusively")


async def test_a_source_that_is_too_long_is_not_kept() -> None:
    served = await served_with(job_source_bytes_max=10)
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/true"}}
    job = {"ID": "web", "Datacenters": ["dc1"], "TaskGroups": [{"Name": "g", "Count": 0, "Tasks": [task]}]}
    body = {"Job": job, "Submission": {"Source": "job web {}, at length", "Format": "hcl2"}}
    reply = await served.call("PUT", "/v1/jobs", body)
    assert "will be discarded" in reply.json["Warnings"]
    assert (await served.call("GET", "/v1/job/web/submission?version=0")).status == 404


async def test_searches_keep_to_their_limits() -> None:
    served = await served_with(search=SearchLimits(ids_max=1, text_length_min=4))
    for job_id in ("job-1", "job-2"):
        await served.register(job_id)
    found = (await served.call("PUT", "/v1/search", {"Prefix": "job", "Context": "jobs"})).json
    assert (len(found["Matches"]["jobs"]), found["Truncations"]["jobs"]) == (1, True)
    short = await served.call("PUT", "/v1/search/fuzzy", {"Text": "job", "Context": "jobs"})
    assert (short.status, short.text) == (500, "fuzzy search query must be at least 4 characters, got 3")


async def test_fuzzy_search_can_be_switched_off() -> None:
    served = await served_with(search=SearchLimits(is_fuzzy=False))
    reply = await served.call("PUT", "/v1/search/fuzzy", {"Text": "web", "Context": "jobs"})
    assert (reply.status, reply.text) == (500, "fuzzy search is not enabled")
