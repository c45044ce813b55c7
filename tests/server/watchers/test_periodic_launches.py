"""Periodic jobs launch their children when it is time, and make up for one missed launch."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from tests.server.running import ScriptedNode, a_server, register, until
from tests.server.virtual_time import run_virtual
from tests.state.builders import START_NS, Cluster, a_job, key
from yurt.model.job import BATCH, Job
from yurt.model.policies import PeriodicConfig
from yurt.model.times import HOUR_NS, MINUTE_NS, SECOND_NS
from yurt.model.wire import Nanoseconds
from yurt.server.periodic_children import launch_entries
from yurt.server.watchers.periodic import Launch, next_periodic_launches, next_periodic_time

# START_NS is at 22:13:20.
FIRST = START_NS + 100 * SECOND_NS
EVERY_5_MINUTES = PeriodicConfig(specs=("*/5 * * * *",))


def a_cluster(periodic: PeriodicConfig = EVERY_5_MINUTES, **changes: Any) -> Cluster:
    cluster = Cluster()
    job = a_job("tick", type=BATCH, periodic=periodic, submit_time=START_NS)
    cluster.add_job(replace(job, **changes))
    return cluster


def launches(cluster: Cluster, now: Nanoseconds) -> list[Nanoseconds]:
    return [launch.at for launch in next_periodic_launches(cluster.state, {}, now=now)]


def launch(cluster: Cluster, at: Nanoseconds, now: Nanoseconds) -> Job:
    for entry in launch_entries(cluster.state.jobs[key("tick")], at, now=now, new_id=lambda: f"eval-{at}"):
        cluster.apply(entry)
    return cluster.state.jobs[key(f"tick/periodic-{at // SECOND_NS}")]


def test_a_job_launches_when_it_is_due() -> None:
    cluster = a_cluster()
    due = next_periodic_time(cluster.state, {})
    assert due is not None
    assert due == FIRST
    assert launches(cluster, due - 1) == []
    assert launches(cluster, due) == [due]


def test_a_launch_is_recorded_and_the_next_counts_from_it() -> None:
    cluster = a_cluster()
    child = launch(cluster, FIRST, FIRST)
    assert (child.parent_id, child.name, child.periodic) == ("tick", child.id, None)
    (evaluation,) = cluster.state.evals.of_job(child.key)
    assert evaluation.triggered_by == "periodic-job"
    assert launches(cluster, FIRST) == []
    assert next_periodic_time(cluster.state, {}) == FIRST + 5 * MINUTE_NS


def test_one_launch_makes_up_for_all_that_were_missed() -> None:
    cluster = a_cluster()
    now = START_NS + 3 * HOUR_NS + 7 * SECOND_NS
    assert launches(cluster, now) == [now // SECOND_NS * SECOND_NS]


@pytest.mark.parametrize(("prohibits", "skipped"), [(True, True), (False, False)])
def test_a_child_at_work_holds_the_next_back_if_asked(prohibits: bool, skipped: bool) -> None:
    cluster = a_cluster(replace(EVERY_5_MINUTES, prohibit_overlap=prohibits))
    launch(cluster, FIRST, FIRST)
    due = FIRST + 5 * MINUTE_NS
    found = next_periodic_launches(cluster.state, {}, now=due)
    job = cluster.state.jobs[key("tick")]
    assert found == [Launch(job=job, at=due, is_skipped=skipped)]
    assert next_periodic_launches(cluster.state, {job.key: due}, now=due) == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"stop": True}, id="stopped"),
        pytest.param({"periodic": replace(EVERY_5_MINUTES, enabled=False)}, id="disabled"),
        pytest.param({"periodic": PeriodicConfig(specs=("no cron",))}, id="not readable"),
    ],
)
def test_other_jobs_launch_nothing(changes: dict[str, Any]) -> None:
    cluster = a_cluster(**changes)
    assert launches(cluster, START_NS + HOUR_NS) == []


def test_a_server_launches_children_in_time() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            node = ScriptedNode(server)
            await node.join()
            async with node.beating():
                await register(server, a_job("tick", type=BATCH, periodic=EVERY_5_MINUTES))
                await until(server, lambda state: len(state.jobs.children_of(key("tick"))) == 3)
                children = server.state.jobs.children_of(key("tick"))
                starts = [int(job.id.rpartition("-")[2]) for job in children]
                assert [later - sooner for sooner, later in pairwise(starts)] == [300, 300]

    run_virtual(scenario())
