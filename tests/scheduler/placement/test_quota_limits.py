"""Quotas: what is beyond them waits, and nothing that workers do at once exceeds them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_group, a_job, a_node, an_eval
from yurt.model.alloc import CLIENT_COMPLETE
from yurt.model.evaluation import EVAL_BLOCKED, Evaluation
from yurt.model.job import SYSTEM, Job
from yurt.model.namespace import Namespace
from yurt.model.plan import Plan
from yurt.model.quota import QuotaLimit, QuotaResources, QuotaSpec
from yurt.model.resources import RequestedDevice, Resources
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.check_plan import check_plan
from yurt.scheduler.schedule import schedule
from yurt.scheduler.view import View
from yurt.state.entries import CommitPlan, RegisterJob, UpsertNamespaces
from yurt.state.quota_entries import UpsertQuota
from yurt.state.quota_use import Q_ALLOCS, Q_CPU, Q_MEMORY

QUOTA = "team"


def a_cluster(nodes: int = 3, **limit: Any) -> Cluster:
    """Some nodes, and the default namespace with a quota."""
    cluster = Cluster()
    for number in range(1, nodes + 1):
        cluster.add_node(a_node(number))
    set_limit(cluster, **limit)
    namespaces = (Namespace(name="default", quota=QUOTA), Namespace(name="free"))
    cluster.apply(UpsertNamespaces(at=cluster.now, namespaces=namespaces))
    return cluster


def set_limit(cluster: Cluster, **limit: Any) -> None:
    limits = (QuotaLimit(region="global", region_limit=QuotaResources(**limit)),)
    cluster.apply(UpsertQuota(at=cluster.now, quota=QuotaSpec(name=QUOTA, limits=limits)))


def a_quota_job(job_id: str, count: int, **changes: Any) -> Job:
    return a_job(job_id, a_group(count=count), region="global", **changes)


def register(cluster: Cluster, job: Job) -> Evaluation:
    evaluation = an_eval(f"eval-{job.id}", job.id, namespace=job.namespace, type=job.type)
    cluster.apply(RegisterJob(at=cluster.now, job=job, evals=(evaluation,)))
    return cluster.state.evals[evaluation.id]


def scheduled(cluster: Cluster, evaluation: Evaluation, seed: int = 1) -> Attempt:
    return schedule(View(cluster.state), evaluation, now=cluster.now, rng=Random(seed))


def commit(cluster: Cluster, attempt: Attempt) -> bool:
    """What the applier does with one attempt; says whether all of it was committed."""
    if attempt.plan is None:
        return True
    checked = check_plan(View(cluster.state), attempt.plan)
    if not checked.changes.is_empty:
        plan = CommitPlan(at=cluster.now, eval_id=attempt.evaluation.id, changes=checked.changes)
        cluster.apply(plan)
    return not checked.rejected and not checked.over_quota


def placed(attempt: Attempt) -> int:
    plan: Plan | None = attempt.plan
    return sum(len(one.ids) for one in plan.changes.placements) if plan is not None else 0


@pytest.mark.parametrize(
    ("limit", "count", "words"),
    [
        ({"cpu": 1200}, 2, "cpu exhausted (1500 needed > 1200 limit)"),
        ({"memory_mb": 600}, 2, "memory exhausted (768 needed > 600 limit)"),
        ({"memory_max_mb": 256}, 1, "memory max exhausted (512 needed > 256 limit)"),
        ({"allocations": 3}, 3, "allocations exhausted (4 needed > 3 limit)"),
        ({"cpu": -1}, 0, "cpu exhausted (500 needed > 0 limit)"),
        ({"cpu": 1200, "allocations": 1}, 1, "allocations exhausted (2 needed > 1 limit)"),
    ],
)
def test_what_is_beyond_the_quota_waits_for_it(limit: dict[str, int], count: int, words: str) -> None:
    cluster = a_cluster(**limit)
    attempt = scheduled(cluster, register(cluster, a_quota_job("web", 5)))
    assert placed(attempt) == count
    (blocked,) = attempt.new_evals
    assert (blocked.status, blocked.quota_limit_reached) == (EVAL_BLOCKED, QUOTA)
    assert attempt.evaluation.quota_limit_reached == QUOTA
    failed = (attempt.evaluation.failed_tg_allocs or {})["g"]
    assert failed.quota_exhausted is not None
    assert words in failed.quota_exhausted
    assert failed.coalesced_failures == 5 - count - 1
    assert attempt.evaluation.queued_allocations == {"g": 5 - count}
    assert commit(cluster, attempt)


def test_devices_have_limits_of_their_own() -> None:
    cluster = a_cluster(devices=(RequestedDevice(name="nvidia/gpu", count=1),))
    (task,) = a_group().tasks
    wanting = replace(task, resources=Resources(devices=(RequestedDevice(name="gpu", count=2),)))
    job = a_job("train", a_group(tasks=(wanting,)), region="global")
    attempt = scheduled(cluster, register(cluster, job))
    failed = (attempt.evaluation.failed_tg_allocs or {})["g"]
    assert failed.quota_exhausted == ("device nvidia/gpu exhausted (2 needed > 1 limit)",)


def test_other_namespaces_and_regions_are_not_limited() -> None:
    cluster = a_cluster(cpu=500)
    free = scheduled(cluster, register(cluster, a_quota_job("free", 3, namespace="free")))
    assert placed(free) == 3
    elsewhere = scheduled(cluster, register(cluster, replace(a_quota_job("far", 3), region="eu")))
    assert placed(elsewhere) == 3


def test_an_update_replaces_within_a_full_quota() -> None:
    cluster = a_cluster(allocations=2)
    attempt = scheduled(cluster, register(cluster, a_quota_job("web", 2)))
    assert commit(cluster, attempt)
    (task,) = a_group().tasks
    other = replace(task, env={"version": "2"})
    job = a_job("web", a_group(count=2, tasks=(other,)), region="global")
    evaluation = register(cluster, job)
    again = scheduled(cluster, evaluation, seed=2)
    assert placed(again) == 2
    assert commit(cluster, again)
    assert cluster.state.quota_uses.used(QUOTA).amounts[Q_ALLOCS] == 2


def test_what_ends_makes_room_and_says_so() -> None:
    cluster = a_cluster(allocations=1)
    assert commit(cluster, scheduled(cluster, register(cluster, a_quota_job("one", 1))))
    waiting = register(cluster, a_quota_job("two", 1))
    assert placed(scheduled(cluster, waiting)) == 0
    cluster.state.take_news()
    (alloc,) = cluster.state.allocs.rows()
    cluster.report(alloc.id, client_status=CLIENT_COMPLETE)
    assert cluster.state.take_news().freed_quotas == [QUOTA]
    assert placed(scheduled(cluster, waiting)) == 1


def test_a_system_job_runs_on_as_many_nodes_as_its_quota_lets_it() -> None:
    cluster = a_cluster(nodes=3, allocations=2)
    attempt = scheduled(cluster, register(cluster, a_quota_job("agent", 1, type=SYSTEM)))
    assert placed(attempt) == 2
    (blocked,) = attempt.new_evals
    assert blocked.quota_limit_reached == QUOTA


def test_a_plan_beyond_the_quota_is_refused_whole_but_may_always_free() -> None:
    cluster = a_cluster(allocations=4)
    first = scheduled(cluster, register(cluster, a_quota_job("one", 3)))
    second = scheduled(cluster, register(cluster, a_quota_job("two", 3)))
    assert commit(cluster, first)
    assert not commit(cluster, second)
    assert cluster.state.quota_uses.used(QUOTA).amounts[Q_ALLOCS] == 3
    set_limit(cluster, allocations=1)
    stopped = register(cluster, replace(a_quota_job("one", 3), stop=True))
    assert commit(cluster, scheduled(cluster, stopped))
    assert cluster.state.quota_uses.used(QUOTA).amounts[Q_ALLOCS] == 0


@pytest.mark.parametrize("seed", range(25))
def test_racing_workers_never_exceed_a_quota(seed: int) -> None:
    rng = Random(seed)
    limit = {"cpu": rng.randint(0, 8) * 500, "memory_mb": rng.randint(0, 12) * 256}
    limit["allocations"] = rng.randint(0, 10)
    cluster = a_cluster(nodes=4, **limit)
    evaluations = [register(cluster, a_quota_job(f"job-{n}", rng.randint(1, 5))) for n in range(8)]
    for _ in range(6):
        # All of these look at the same State; each is checked against the newest.
        racing = [
            scheduled(cluster, one, seed=rng.randint(0, 10**6))
            for one in rng.sample(evaluations, rng.randint(1, len(evaluations)))
        ]
        view = View(cluster.state)
        accepted = []
        for attempt in racing:
            if attempt.plan is not None:
                checked = check_plan(view, attempt.plan)
                view.add(checked.changes)
                accepted.append(
                    CommitPlan(at=cluster.now, eval_id=attempt.evaluation.id, changes=checked.changes)
                )
        for entry in accepted:
            cluster.apply(entry)
        used = cluster.state.quota_uses.used(QUOTA).amounts
        for name, dimension in (("cpu", Q_CPU), ("memory_mb", Q_MEMORY), ("allocations", Q_ALLOCS)):
            assert not limit[name] or used[dimension] <= limit[name], f"replay: seed {seed}"
        live = [alloc for alloc in cluster.state.allocs if not alloc.is_terminal]
        for alloc in rng.sample(live, len(live) // 3):
            cluster.report(alloc.id, client_status=CLIENT_COMPLETE)
