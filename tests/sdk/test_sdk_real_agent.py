"""Both clients against a real agent: a job defined in Python, followed while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.support.real_agent import RealAgent, running_agent
from yurt.sdk import ApiError, AsyncClient, Client, allocs, events, jobs, nodes, search
from yurt.sdk import agent as agent_calls
from yurt.sdk.definitions import Group, Job, Resources, Task

EVENT_TIMEOUT_S = 30.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as started:
        yield started


def a_job(job_id: str) -> Job:
    task = Task(
        name="t",
        driver="raw_exec",
        config={"command": "/bin/sh", "args": ["-c", "echo hello; exec sleep 600"]},
        resources=Resources(cpu=10, memory_mb=10),
    )
    return Job(id=job_id, task_groups=[Group(name="g", tasks=[task])])


@pytest.fixture
def client(server: RealAgent) -> Iterator[Client]:
    made = Client(server.address)
    yield made
    made.close()


def test_a_job_is_registered_watched_and_stopped(client: Client) -> None:
    registered = jobs.register(client, a_job("sync").to_api())
    assert registered.value.eval_id
    for answer in client.watch(jobs.allocations, "sync"):
        if answer.value and answer.value[0].client_status == "running":
            break
    assert answer.index > 0
    (alloc,) = answer.value
    with allocs.stream_logs(client, alloc.id, "t", kind="stdout", follow=True) as stream:
        assert next(stream.frames()).data == b"hello\n"
    told = events.follow(client, topics=("Job:sync",))
    assert next(told).events[0].key == "sync"
    told.close()  # type: ignore[attr-defined]  # an iterator that is a generator
    assert search.fuzzy(client, "syn", "jobs").value.matches["jobs"][0].id == "sync"
    jobs.deregister(client, "sync", purge=True)
    with pytest.raises(ApiError, match="job not found"):
        jobs.read(client, "sync")


async def test_the_same_without_blocking_the_loop(server: RealAgent) -> None:
    async with AsyncClient(server.address) as client, asyncio.timeout(EVENT_TIMEOUT_S):
        following = asyncio.ensure_future(_first_event(client))
        await client.call(jobs.register, a_job("async").to_api())
        async for answer in client.watch(jobs.allocations, "async"):
            if answer.value and answer.value[0].client_status == "running":
                break
        (alloc,) = answer.value
        async with client.stream(allocs.stream_logs, alloc.id, "t", kind="stdout", follow=True) as stream:
            async for frame in stream.frames():
                assert frame.data == b"hello\n"
                break
        assert await following == "async"
        listed, health = await asyncio.gather(
            client.call(nodes.listing), client.call(agent_calls.health, "server")
        )
        assert [node.status for node in listed.value] == ["ready"]
        assert health.value["server"].ok
        await client.call(jobs.deregister, "async", purge=True)
        with pytest.raises(ApiError, match="job not found"):
            await client.call(jobs.read, "async")


async def _first_event(client: AsyncClient) -> str:
    async for batch in events.follow_async(client, topics=("Job:async",)):
        return batch.events[0].key
    return ""
