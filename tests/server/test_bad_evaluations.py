"""An evaluation that cannot be dealt with fails alone, and says why."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tests.server.running import ScriptedNode, a_server, placed, until
from tests.server.virtual_time import run_virtual
from tests.state.builders import a_group, a_job, key
from yurt.model.evaluation import Evaluation
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH, JOB_TYPES
from yurt.model.plan import Plan
from yurt.model.resources import Resources
from yurt.model.task import Task
from yurt.scheduler.check_plan import CheckedPlan, check_plan
from yurt.scheduler.configuration import ALGORITHM_META
from yurt.scheduler.rank import algorithms
from yurt.scheduler.rank.candidates import Candidates
from yurt.scheduler.rank.score import Algorithm, Score, ScoreColumn
from yurt.scheduler.view import View
from yurt.server import plan_applier
from yurt.server.broker import DELIVERY_LIMIT
from yurt.server.server import Server

MOST_OF_A_NODE = Resources(cpu=3000, memory_mb=256)


def big(name: str) -> TaskGroup:
    return a_group(name, tasks=(Task(name="t", driver="raw_exec", resources=MOST_OF_A_NODE),))


def likes_only_the_first_group(candidates: Candidates) -> Score:
    if candidates.group.name == "second":
        raise ZeroDivisionError("no second thoughts")
    return Score(np.zeros(len(candidates.slots)))


PICKY = Algorithm(
    name="picky",
    job_types=frozenset(JOB_TYPES),
    columns=(ScoreColumn("first", likes_only_the_first_group),),
)


def evals_of(server: Server, job_id: str) -> list[Evaluation]:
    return list(server.state.evals.of_job(key(job_id)))


def test_a_plug_in_that_fails_fails_its_own_evaluation_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(algorithms.BUILT_IN, "picky", PICKY)
    bad = a_job("bad", big("first"), big("second"), type=BATCH, meta={ALGORITHM_META: "picky"})
    good = a_job("good", big("g"), type=BATCH)

    async def scenario() -> None:
        async with a_server() as server:
            await ScriptedNode(server).join()
            await asyncio.gather(server.jobs.register(bad), server.jobs.register(good))
            await until(server, lambda state: placed(state, "good"))
            await until(server, lambda _: evals_of(server, "bad")[0].status == "failed")
            failed, later = evals_of(server, "bad")
            assert failed.status_description.startswith(
                "placement algorithm 'picky': its column 'first' failed"
            )
            assert (failed.next_eval, later.previous_eval) == (later.id, failed.id)
            assert (later.triggered_by, later.status) == ("failed-follow-up", "pending")
            assert placed(server.state, "bad") == []
            assert [one.status for one in evals_of(server, "good")] == ["complete"]

    run_virtual(scenario())


def test_a_plan_that_cannot_be_verified_fails_its_own_evaluation_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stumbling(view: View, plan: Plan) -> CheckedPlan:
        if view.state.evals[plan.eval_id].job_id == "bad":
            raise ZeroDivisionError("what is this?")
        return check_plan(view, plan)

    monkeypatch.setattr(plan_applier, "check_plan", stumbling)

    async def scenario() -> None:
        async with a_server() as server:
            node = ScriptedNode(server)
            await node.join()
            jobs = [a_job(name, a_group(), type=BATCH) for name in ("bad", "good")]
            await asyncio.gather(*map(server.jobs.register, jobs))
            await until(server, lambda state: placed(state, "good"))
            async with node.beating():
                await until(server, lambda _: evals_of(server, "bad")[0].status == "failed")
            assert f"delivery limit ({DELIVERY_LIMIT})" in evals_of(server, "bad")[0].status_description
            assert placed(server.state, "bad") == []

    run_virtual(scenario())
