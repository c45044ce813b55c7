"""Whatever happens to a cluster, it settles: every job runs as asked, and looking again changes nothing."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.scheduler.kinds.recorded_cluster import RecordedCluster
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_JOB_REGISTER, Evaluation
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM, Job
from yurt.model.times import SECOND_NS
from yurt.model.wire import EvalID
from yurt.scheduler.kinds import service
from yurt.scheduler.reconcile.alloc_facts import is_canary, transition
from yurt.scheduler.schedule import schedule
from yurt.scheduler.view import View

KINDS = (SERVICE, SERVICE, BATCH, SYSTEM, SYSBATCH)


def a_node(number: int) -> dict[str, Any]:
    return {
        "ID": f"{number:08d}-0000-4000-8000-000000000000",
        "Name": f"n{number}",
        "Datacenter": "dc1",
        "NodeClass": "",
        "NodePool": "default",
        "Cores": 4,
        "MHzPerCore": 1000,
        "MemoryMB": 8192,
        "DiskMB": 102400,
        "Attributes": {"kernel.name": "linux", "rack": f"r{number % 2}", "nomad.version": "2.0.6"},
        "Meta": {},
        "Drivers": {"mock_driver": True},
        "Networks": [{"Mode": "host", "Device": "eth0", "IP": f"10.0.0.{number}", "Alias": "default"}],
    }


class Story:
    """A cluster, and things that happen to it at random."""

    def __init__(self, seed: int) -> None:
        self.choose = Random(seed)
        self.cluster = RecordedCluster(
            {
                "Scenario": f"story {seed}",
                "Nodes": [a_node(number) for number in range(6)],
                "ClientBehaviour": [{"Job": "shaky", "Action": "fail", "AfterMs": 400, "Times": 3}],
            }
        )
        self._versions: Counter[str] = Counter()

    def submitted(self, name: str, kind: str) -> dict[str, Any]:
        choose = self.choose
        self._versions[name] += choose.choice((0, 1))
        group: dict[str, Any] = {
            "Name": "g",
            "Count": 1 if kind in (SYSTEM, SYSBATCH) else choose.randint(0, 5),
            "Tasks": [
                {
                    "Name": "t",
                    "Driver": "mock_driver",
                    "Env": {"V": str(self._versions[name])},
                    "Resources": {"CPU": 200, "MemoryMB": 128},
                }
            ],
        }
        if kind in (SERVICE, SYSTEM):
            group["Update"] = {
                "MaxParallel": choose.choice((0, 1, 2)),
                "Canary": choose.choice((0, 0, 1)),
                "HealthCheck": "task_states",
                "MinHealthyTime": SECOND_NS,
                "HealthyDeadline": 60 * SECOND_NS,
                "ProgressDeadline": 120 * SECOND_NS,
            }
        if kind == SERVICE:
            group["Disconnect"] = choose.choice((None, {"LostAfter": 10 * SECOND_NS}))
            group["ReschedulePolicy"] = {
                "Delay": 5 * SECOND_NS,
                "DelayFunction": "constant",
                "Unlimited": True,
            }
        constraints = choose.choice((None, [{"LTarget": "${attr.rack}", "Operand": "=", "RTarget": "r1"}]))
        return {"ID": name, "Name": name, "Type": kind, "Constraints": constraints, "TaskGroups": [group]}

    def happen(self) -> None:
        """One more thing happens."""
        cluster, choose = self.cluster, self.choose
        ready = [node for node in cluster.state.nodes if node.status == "ready"]
        silent = [node for node in cluster.state.nodes if node.status in ("down", "disconnected")]
        match choose.randrange(8):
            case 0 | 1 | 2 | 3:
                number = choose.randrange(len(KINDS))
                name = "shaky" if number == 1 else f"{KINDS[number]}-{number}"
                cluster.register_job(self.submitted(name, KINDS[number]))
            case 4 if len(ready) > 3:
                cluster.fall_silent([choose.choice(ready).name])
            case 5 if silent:
                cluster.come_back([choose.choice(silent).name])
            case 6:
                running = [alloc for alloc in cluster.state.allocs if not alloc.is_terminal]
                if running:
                    cluster.stop_alloc(choose.choice(running))
            case 7 if len(ready) > 3:
                spec = {"Deadline": choose.choice((-1, 20 * SECOND_NS))}
                cluster.drain(choose.choice(ready).id, spec, mark_eligible=False)
            case _:
                pass
        for deployment in cluster.state.deployments.rows():
            waiting = [g for g in deployment.task_groups.values() if g.desired_canaries and not g.promoted]
            if (
                deployment.is_active
                and waiting
                and all(g.healthy_allocs >= g.desired_canaries for g in waiting)
            ):
                cluster.promote(deployment)
        cluster.run_until(cluster.now + choose.randint(1, 8) * SECOND_NS)

    def settle(self) -> None:
        """Let everything come to rest."""
        for _ in range(6):
            self.cluster.run_until(self.cluster.now + 10 * SECOND_NS)
            for deployment in self.cluster.state.deployments.rows():
                if deployment.is_active:
                    self.cluster.promote(deployment)
        # Nobody looks at sysbatch jobs when nodes come and go; what falls silent is lost at the second look.
        for _ in range(2):
            for job in self.cluster.state.jobs.rows():
                self.cluster.evaluate(job.id)
            self.cluster.run_until(self.cluster.now + 10 * SECOND_NS)

    def look_again(self, job: Job) -> Evaluation:
        return Evaluation(
            id=EvalID("again"),
            namespace=job.namespace,
            priority=job.priority,
            type=job.type,
            triggered_by=TRIGGER_JOB_REGISTER,
            job_id=job.id,
            status=EVAL_PENDING,
        )


@pytest.mark.parametrize("seed", range(40))
def test_a_cluster_settles_and_stays(seed: int) -> None:
    story = Story(seed)
    for _ in range(12):
        story.happen()
    story.settle()
    cluster = story.cluster
    for job in cluster.state.jobs:
        attempt = schedule(View(cluster.state), story.look_again(job), now=cluster.now, rng=Random(0))
        assert attempt.plan is None, f"{job.id} is not at rest: {attempt.evaluation.plan_annotations}"
        live = [alloc for alloc in cluster.state.allocs.of_job(job.key) if not alloc.is_terminal]
        group = job.task_groups[0]
        if job.type == SERVICE:
            wanted = [a for a in live if a.client_status == "running" and not is_canary(a)]
            unplaced = (attempt.evaluation.queued_allocations or {})["g"]
            staying = [alloc for alloc in wanted if not transition(alloc).migrate]
            assert len(staying) <= group.count <= len(staying) + unplaced
            assert len({alloc.name for alloc in wanted}) == len(wanted), "every instance has its own name"
        if job.type == SYSTEM:
            per_node = Counter(alloc.node_id for alloc in live)
            assert set(per_node.values()) <= {1}


def test_a_large_group_is_placed_in_slices() -> None:
    story = Story(0)
    submitted = story.submitted("big", SERVICE)
    submitted["TaskGroups"][0]["Count"] = 45
    submitted["Constraints"] = None
    cluster = story.cluster
    cluster.register_job(submitted)
    job = next(job for job in cluster.state.jobs if job.id == "big")
    evaluation = story.look_again(job)
    view = View(cluster.state)
    first = service.attempt(view, evaluation, now=cluster.now, rng=Random(1), placements_max=20)
    assert first.has_more
    assert first.plan is not None
    assert sum(len(one.ids) for one in first.plan.changes.placements) == 20
    whole = service.attempt(View(cluster.state), evaluation, now=cluster.now, rng=Random(1))
    assert not whole.has_more
    assert whole.evaluation.queued_allocations == {"g": 0}


def test_slices_end_with_a_count_of_everything_that_found_no_room() -> None:
    story = Story(0)
    submitted = story.submitted("huge", SERVICE)
    submitted["TaskGroups"][0]["Count"] = 500
    submitted["Constraints"] = None
    cluster = story.cluster
    cluster.register_job(submitted)
    job = next(job for job in cluster.state.jobs if job.id == "huge")
    attempt = service.attempt(
        View(cluster.state), story.look_again(job), now=cluster.now, rng=Random(1), placements_max=200
    )
    assert not attempt.has_more
    room = 6 * (4000 // 200)
    assert attempt.evaluation.queued_allocations == {"g": 500 - room}
    assert attempt.evaluation.failed_tg_allocs is not None
    assert attempt.evaluation.failed_tg_allocs["g"].coalesced_failures == 500 - room - 1
