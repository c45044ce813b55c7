"""Blocking queries: answered when what they read has changed, or their time is up."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from tests.api.asgi import a_call
from tests.server.virtual_time import run_virtual
from tests.state.builders import Cluster, a_job, a_node, key
from yurt.api.blocking import WAIT_MAX_S, blocking
from yurt.api.errors import HttpError
from yurt.model.job import JobKey
from yurt.state.state import State


class _Query:
    """One job, read as the API reads it."""

    def __init__(self, state: State, job_key: JobKey) -> None:
        self.reads = 0
        self._state = state
        self._key = job_key

    def read(self) -> tuple[int, str | None]:
        self.reads += 1
        job = self._state.jobs.get(self._key)
        return (job.modify_index, job.status) if job is not None else (self._state.jobs.index, None)

    async def ask(self, query: str, *body: bytes | None) -> tuple[int, str | None]:
        call = a_call(f"/v1/job/web?{query}", *body)
        return await blocking(call, self._state, [("jobs", self._key)], self.read, Random(1))


def _now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("", id="no index"),
        pytest.param("index=0&wait=10s", id="index 0"),
        pytest.param("index=1&wait=10s", id="an older index"),
    ],
)
def test_an_answer_at_once(query: str) -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_node()
        cluster.add_job()
        asked = _Query(cluster.state, key())
        assert await asked.ask(query) == (2, "pending")
        assert (_now(), asked.reads) == (0, 1)

    run_virtual(scenario())


def test_an_answer_when_the_object_changes() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_job()
        query = _Query(cluster.state, key())
        asked = asyncio.ensure_future(query.ask("index=1&wait=60s"))
        await asyncio.sleep(5)
        cluster.add_job(a_job(priority=80))
        cluster.state.watches.flush()
        assert await asked == (2, "pending")
        assert _now() == 5

    run_virtual(scenario())


def test_only_what_is_read_wakes_a_query() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_job()
        query = _Query(cluster.state, key())
        asked = asyncio.ensure_future(query.ask("index=1&wait=60s"))
        await asyncio.sleep(1)
        cluster.add_job(a_job("other"))
        cluster.add_node(a_node())
        cluster.state.watches.flush()
        await asyncio.sleep(1)
        assert not asked.done()
        assert query.reads == 1
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert not any(cluster.state.watches.family("jobs").values()), "nobody is left watching"

    run_virtual(scenario())


def test_a_wake_up_without_a_newer_index_is_slept_through() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_job()
        query = _Query(cluster.state, key())
        asked = asyncio.ensure_future(query.ask("index=5&wait=60s"))
        await asyncio.sleep(1)
        for priority in (60, 70):
            cluster.add_job(a_job(priority=priority))
            cluster.state.watches.flush()
            await asyncio.sleep(1)
        assert not asked.done()
        assert query.reads == 3
        for priority in (80, 90, 95):
            cluster.add_job(a_job(priority=priority))
        cluster.state.watches.flush()
        assert await asked == (6, "pending")

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [
        ("wait=8s", 8.0),
        ("wait=500ms", 0.5),
        ("", WAIT_MAX_S),
        ("wait=0s", WAIT_MAX_S),
        ("wait=-3s", WAIT_MAX_S),
        ("wait=2h", WAIT_MAX_S),
    ],
)
def test_when_time_is_up_the_answer_is_what_it_was(wait: str, seconds: float) -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_job()
        query = _Query(cluster.state, key())
        assert await query.ask(f"index=1&{wait}") == (1, "pending")
        assert seconds <= _now() <= seconds * 17 / 16

    run_virtual(scenario())


def test_an_index_beyond_all_others_waits_its_time() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_job()
        assert await _Query(cluster.state, key()).ask("index=99999&wait=5s") == (1, "pending")
        assert _now() >= 5

    run_virtual(scenario())


def test_waiting_for_something_to_exist() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_job(a_job("other"))
        query = _Query(cluster.state, key())
        assert await query.ask("") == (1, None)
        asked = asyncio.ensure_future(query.ask("index=1&wait=60s"))
        await asyncio.sleep(1)
        cluster.add_job()
        cluster.state.watches.flush()
        assert await asked == (2, "pending")

    run_virtual(scenario())


def test_nobody_waits_for_a_caller_that_has_gone() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        cluster.add_job()
        query = _Query(cluster.state, key())
        await query.ask("index=1&wait=60s", b"", None)
        assert (_now(), cluster.state.watches.family("jobs")) == (0, {})

    run_virtual(scenario())


def test_a_replaced_state_answers_all_who_wait() -> None:
    async def scenario() -> None:
        cluster, other = Cluster(), Cluster()
        for _ in range(3):
            cluster.add_node()
        cluster.add_job()
        other.add_job()
        asked = asyncio.ensure_future(_Query(cluster.state, key()).ask("index=4&wait=60s"))
        await asyncio.sleep(1)
        cluster.state.become(other.state)
        assert await asked == (1, "pending"), "indexes may run backwards then"
        assert _now() == 1

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("query", "text"),
    [("index=x", "Invalid index"), ("index=1&wait=x", "Invalid wait time"), ("stale=maybe", "`stale`")],
)
async def test_bad_parameters_are_refused_before_anything_is_read(query: str, text: str) -> None:
    asked = _Query(State(), key())
    with pytest.raises(HttpError, match=text) as refused:
        await asked.ask(query)
    assert refused.value.status == 400
    assert asked.reads == 0
