"""Time making room on 10,000 full nodes, and placing a system job on 10,000 nodes."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from benchmarks.scheduler.cluster import CONFIGURATION, NODES, a_cluster, a_job, seconds
from yurt.model.alloc import CLIENT_RUNNING, Allocation
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_JOB_REGISTER, Evaluation
from yurt.model.job import SYSTEM
from yurt.model.resources import Resources
from yurt.model.scheduler_configuration import PreemptionConfig
from yurt.model.wire import AllocID, EvalID, JobID, NodeID
from yurt.scheduler.ask import ask_of
from yurt.scheduler.place import place_group
from yurt.scheduler.requests import PlaceRequest
from yurt.scheduler.schedule import schedule
from yurt.scheduler.view import View
from yurt.state.apply import apply
from yurt.state.entries import RegisterJob
from yurt.state.state import State

ROUNDS = 5
ALLOCS_PER_FULL_NODE = 4
TARGETS = {"preempt_one_ms": "<= 10", "system_job_ms": "<= 150"}


def run() -> dict[str, float]:
    """Return the time to place one instance by preemption, and to plan a new system job everywhere."""
    return {"preempt_one_ms": _preempt_s() * 1e3, "system_job_ms": _system_s() * 1e3}


def _preempt_s() -> float:
    state = _full_cluster()
    job = replace(a_job("urgent", resources=Resources(cpu=900, memory_mb=1_000)), priority=90)
    group = job.task_groups[0]
    configuration = replace(CONFIGURATION, preemption_config=PreemptionConfig(service_scheduler_enabled=True))
    views = iter([View(state) for _ in range(ROUNDS + 1)])

    def once() -> None:
        wanted = [PlaceRequest(name_index=0)]
        result = place_group(next(views), job, group, wanted, rng=Random(1), configuration=configuration)
        assert any(one.preempted for one in result.placed), "somebody must make room"

    return seconds(once, rounds=ROUNDS)


def _full_cluster() -> State:
    """Nodes whose CPU is all in use, by jobs that anybody of priority 90 may displace."""
    state = a_cluster(sizes=(1,), allocs_per_node=0)
    running = replace(a_job("running", resources=Resources(cpu=1_000, memory_mb=500)), priority=20)
    resources = ask_of(running.task_groups[0], oversubscribe=False).resources
    allocs = [
        Allocation(
            id=AllocID(f"alloc-{number}"),
            job=running,
            task_group="group",
            name_index=number,
            node_id=NodeID(f"node-{number % NODES}"),
            node_name="",
            eval_id=EvalID("eval"),
            resources=resources,
            client_status=CLIENT_RUNNING,
        )
        for number in range(ALLOCS_PER_FULL_NODE * NODES)
    ]
    state.allocs.put_new(allocs, NODES + 1)
    return state


def _system_s() -> float:
    state = a_cluster()
    evaluation = Evaluation(
        id=EvalID("everywhere"),
        namespace="default",
        priority=50,
        type=SYSTEM,
        triggered_by=TRIGGER_JOB_REGISTER,
        job_id=JobID("everywhere"),
        status=EVAL_PENDING,
    )
    job = replace(a_job("everywhere"), type=SYSTEM)
    apply(state, NODES + 2, RegisterJob(at=1, job=job, evals=(evaluation,)))
    stored = state.evals[evaluation.id]

    def once() -> None:
        attempt = schedule(View(state), stored, now=1, rng=Random(1))
        assert attempt.plan is not None, "there is room on most nodes"

    return seconds(once, rounds=ROUNDS)
