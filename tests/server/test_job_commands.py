"""Registering, stopping and evaluating jobs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from tests.server.running import SETTINGS
from tests.state.builders import a_job, key
from yurt.clock import SystemClock
from yurt.log import MemoryLog
from yurt.model.evaluation import Evaluation
from yurt.model.job import BATCH, SYSTEM, Job
from yurt.model.policies import ParameterizedJobConfig, PeriodicConfig
from yurt.model.wire import EvalID
from yurt.server.commands.jobs import JobDeregistered, JobNotFound, JobRefused
from yurt.server.server import Server
from yurt.state.state import State


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A server that answers, and does nothing by itself."""
    server = Server(SETTINGS, MemoryLog(), State(), SystemClock(), Random(1))
    yield server
    await server.close()


def _eval(server: Server, eval_id: str) -> Evaluation:
    return server.state.evals[EvalID(eval_id)]


async def test_a_job_may_name_its_algorithm_if_there_is_one(server: Server) -> None:
    stored = await server.jobs.register(a_job(meta={"yurt.algorithm": "spread"}))
    assert stored.job.meta == {"yurt.algorithm": "spread"}
    with pytest.raises(JobRefused, match=r"meta 'yurt.algorithm'.*no such algorithm.*binpack.*spread"):
        await server.jobs.register(a_job("other", meta={"yurt.algorithm": "fastest"}))
    assert key("other") not in server.state.jobs


async def test_a_registration_is_stored_with_its_evaluation(server: Server) -> None:
    done = await server.jobs.register(a_job(type=BATCH, priority=70))
    assert (done.index, done.job_modify_index, done.job.submit_time > 0) == (1, 1, True)
    evaluation = _eval(server, done.eval_id)
    assert (evaluation.type, evaluation.priority, evaluation.triggered_by) == (BATCH, 70, "job-register")
    assert (evaluation.job_modify_index, evaluation.create_index) == (1, 1)
    urgent = await server.jobs.register(a_job(type=BATCH, priority=70), eval_priority=99)
    assert _eval(server, urgent.eval_id).priority == 99


@pytest.mark.parametrize(
    "job",
    [a_job(periodic=PeriodicConfig(spec="@daily")), a_job(parameterized_job=ParameterizedJobConfig())],
    ids=["periodic", "parameterized"],
)
async def test_jobs_that_only_launch_others_are_not_evaluated(server: Server, job: Job) -> None:
    assert (await server.jobs.register(job)).eval_id == ""
    with pytest.raises(JobRefused, match="can't evaluate"):
        await server.jobs.evaluate(key())
    stopped = await server.jobs.deregister(key())
    assert (stopped.eval_id, stopped.job_modify_index) == ("", 2)
    assert server.state.jobs[key()].status == "dead"


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (a_job(type=SYSTEM), "cannot update job from type"),
        (a_job(periodic=PeriodicConfig(spec="@daily")), "non-periodic job to being periodic"),
        (a_job(parameterized_job=ParameterizedJobConfig()), "non-parameterized job to being parameterized"),
    ],
)
async def test_a_job_stays_what_it_is(server: Server, changed: Job, text: str) -> None:
    await server.jobs.register(a_job())
    with pytest.raises(JobRefused, match=text):
        await server.jobs.register(changed)
    assert server.state.index == 1


async def test_an_enforced_index_is_checked_also_when_others_are_faster(server: Server) -> None:
    await server.jobs.register(a_job())
    with pytest.raises(JobRefused, match="already exists"):
        await server.jobs.register(a_job(priority=60), enforce_index=0)
    first, second = await asyncio.gather(
        server.jobs.register(a_job(priority=60), enforce_index=1),
        server.jobs.register(a_job(priority=70), enforce_index=1),
        return_exceptions=True,
    )
    assert not isinstance(first, BaseException)
    assert isinstance(second, JobRefused)
    assert server.state.jobs[key()].priority == 60


async def test_stopping_is_evaluated_as_a_service(server: Server) -> None:
    await server.jobs.register(a_job(type=SYSTEM, priority=70))
    stopped = await server.jobs.deregister(key())
    evaluation = _eval(server, stopped.eval_id)
    assert (evaluation.type, evaluation.priority) == ("service", 70)
    assert (evaluation.triggered_by, evaluation.job_modify_index) == ("job-deregister", 2)
    assert server.state.jobs[key()].stop
    purged = await server.jobs.deregister(key(), purge=True, eval_priority=20)
    assert _eval(server, purged.eval_id).priority == 20
    assert key() not in server.state.jobs


async def test_an_unknown_job(server: Server) -> None:
    assert await server.jobs.deregister(key()) == JobDeregistered()
    with pytest.raises(JobNotFound, match="job not found"):
        await server.jobs.evaluate(key())
    assert server.state.index == 0


async def test_an_evaluation_by_request(server: Server) -> None:
    await server.jobs.register(a_job())
    done = await server.jobs.evaluate(key())
    evaluation = _eval(server, done.eval_id)
    assert (evaluation.triggered_by, evaluation.job_modify_index, evaluation.create_index) == (
        "job-register",
        1,
        2,
    )
