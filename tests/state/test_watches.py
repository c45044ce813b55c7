"""Watchers are woken by what they watch, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.state.builders import DEFAULT, Cluster, a_deployment, a_job, a_node, an_eval, key, node_id
from yurt.model.alloc import DesiredTransition
from yurt.model.deployment import DeploymentStatusUpdate
from yurt.model.wire import AllocID, DeploymentID, EvalID
from yurt.state.entries import DeleteEvals, DeregisterJob, SetDesiredTransitions, SetNodeStatus
from yurt.state.state import State
from yurt.state.watches import WatchKey


class _Wakes:
    """Counts how often a watcher is woken."""

    def __init__(self, state: State, *keys: WatchKey) -> None:
        self.count = 0
        self.cancel = state.watches.add(keys, self._wake)

    def _wake(self) -> None:
        self.count += 1


def _two_jobs() -> Cluster:
    """Nodes 1 and 2, with a job on each."""
    cluster = Cluster()
    for number, job_id in ((1, "web"), (2, "other")):
        node = cluster.add_node(a_node(number))
        job = cluster.add_job(a_job(job_id), an_eval(f"e-{job_id}", job_id))
        cluster.commit(deployment=a_deployment(f"d-{job_id}", job))
        cluster.place(job, f"a-{job_id}", node=node, deployment_id=f"d-{job_id}")
    cluster.state.watches.flush()
    return cluster


def _succeed(cluster: Cluster, deployment_id: str) -> None:
    update = DeploymentStatusUpdate(
        deployment_id=DeploymentID(deployment_id), status="failed", status_description=""
    )
    cluster.commit(deployment_updates=(update,))


CHANGES: dict[str, Callable[[Cluster, str, int], object]] = {
    "the job": lambda cluster, job_id, _: cluster.add_job(a_job(job_id, priority=99)),
    "an allocation": lambda cluster, job_id, _: cluster.report(f"a-{job_id}"),
    "a wish for an allocation": lambda cluster, job_id, _: cluster.apply(
        SetDesiredTransitions(
            at=cluster.now, transitions={AllocID(f"a-{job_id}"): DesiredTransition(migrate=True)}
        )
    ),
    "a new allocation": lambda cluster, job_id, number: cluster.place(
        cluster.state.jobs[key(job_id)], "fresh", node=cluster.state.nodes[node_id(number)]
    ),
    "a gone allocation": lambda cluster, job_id, _: cluster.apply(
        DeleteEvals(at=cluster.now, alloc_ids=(AllocID(f"a-{job_id}"),))
    ),
    "an evaluation": lambda cluster, job_id, _: cluster.add_evals(an_eval("more", job_id)),
    "a gone evaluation": lambda cluster, job_id, _: cluster.apply(
        DeleteEvals(at=cluster.now, eval_ids=(EvalID(f"e-{job_id}"),))
    ),
    "a deployment": lambda cluster, job_id, _: _succeed(cluster, f"d-{job_id}"),
    "the node": lambda cluster, _, number: cluster.apply(
        SetNodeStatus(at=cluster.now, node_id=node_id(number), status="down")
    ),
    "the job's end": lambda cluster, job_id, _: cluster.apply(
        DeregisterJob(at=cluster.now, namespace=DEFAULT, job_id=job_id, purge=True)
    ),
}

WAKES: dict[str, set[str]] = {
    "the job": {"jobs"},
    "an allocation": {"allocs", "allocs-of-job", "allocs-of-node", "job-summaries"},
    "a wish for an allocation": {"allocs", "allocs-of-job", "allocs-of-node"},
    "a new allocation": {"allocs-of-job", "allocs-of-node", "job-summaries"},
    "a gone allocation": {"allocs", "allocs-of-job", "allocs-of-node"},
    "an evaluation": {"evals-of-job"},
    "a gone evaluation": {"evals", "evals-of-job"},
    "a deployment": {"deployments", "deployments-of-job"},
    "the node": {"nodes"},
    "the job's end": {
        "jobs",
        "job-summaries",
        "allocs",
        "allocs-of-job",
        "allocs-of-node",
        "evals",
        "evals-of-job",
        "deployments",
        "deployments-of-job",
    },
}


def _keys(job_id: str, number: int) -> dict[str, WatchKey]:
    return {
        "jobs": ("jobs", key(job_id)),
        "job-summaries": ("job-summaries", key(job_id)),
        "allocs": ("allocs", AllocID(f"a-{job_id}")),
        "allocs-of-job": ("allocs-of-job", key(job_id)),
        "allocs-of-node": ("allocs-of-node", node_id(number)),
        "evals": ("evals", EvalID(f"e-{job_id}")),
        "evals-of-job": ("evals-of-job", key(job_id)),
        "deployments": ("deployments", DeploymentID(f"d-{job_id}")),
        "deployments-of-job": ("deployments-of-job", key(job_id)),
        "nodes": ("nodes", node_id(number)),
    }


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_wakes_exactly_who_watches_what_it_changes(change: str) -> None:
    cluster = _two_jobs()
    own = {name: _Wakes(cluster.state, watched) for name, watched in _keys("web", 1).items()}
    others = {name: _Wakes(cluster.state, watched) for name, watched in _keys("other", 2).items()}
    CHANGES[change](cluster, "web", 1)
    cluster.state.watches.flush()
    assert {name for name, wakes in own.items() if wakes.count} == WAKES[change]
    assert {name for name, wakes in others.items() if wakes.count} == set()


@pytest.mark.parametrize(
    ("change", "tables"),
    [
        ("an allocation", {"allocs", "job-summaries"}),
        ("an evaluation", {"evals"}),
        ("the node", {"nodes"}),
        ("a deployment", {"deployments"}),
    ],
)
def test_who_watches_a_whole_table_hears_of_any_change(change: str, tables: set[str]) -> None:
    cluster = _two_jobs()
    names = ("jobs", "job-summaries", "allocs", "evals", "deployments", "nodes")
    watchers = {name: _Wakes(cluster.state, (name, None)) for name in names}
    CHANGES[change](cluster, "web", 1)
    cluster.state.watches.flush()
    assert {name for name, wakes in watchers.items() if wakes.count} == tables


def test_a_watcher_of_several_keys_is_woken_once_a_flush() -> None:
    cluster = _two_jobs()
    wakes = _Wakes(cluster.state, ("allocs", None), ("allocs-of-job", key()), ("jobs", None))
    cluster.report("a-web")
    cluster.report("a-web", "complete")
    assert wakes.count == 0, "only a flush wakes"
    cluster.state.watches.flush()
    assert wakes.count == 1
    cluster.state.watches.flush()
    assert wakes.count == 1


def test_a_cancelled_watcher_is_left_alone_even_if_it_was_due() -> None:
    cluster = _two_jobs()
    gone = _Wakes(cluster.state, ("allocs", None), ("jobs", None))
    stays = _Wakes(cluster.state, ("allocs", None))
    cluster.report("a-web")
    gone.cancel()
    gone.cancel()
    cluster.state.watches.flush()
    assert (gone.count, stays.count) == (0, 1)


def test_watchers_may_come_and_go_while_being_woken() -> None:
    cluster = _two_jobs()
    calls: list[str] = []

    def first() -> None:
        calls.append("first")
        cancel_second()
        cluster.state.watches.add([("allocs", None)], lambda: calls.append("third"))

    cluster.state.watches.add([("allocs", None)], first)
    cancel_second = cluster.state.watches.add([("allocs", None)], lambda: calls.append("second"))
    cluster.report("a-web")
    cluster.state.watches.flush()
    assert calls[0] == "first"
    cluster.report("a-web")
    cluster.state.watches.flush()
    assert calls[-1] == "third"
    assert calls.count("second") <= 1, "it was due already"


def test_a_replaced_state_wakes_all_and_goes_on_waking() -> None:
    cluster, other = _two_jobs(), Cluster()
    other.add_node(a_node(7))
    watcher = _Wakes(cluster.state, ("jobs", key()))
    due = _Wakes(cluster.state, ("allocs", None))
    gone = _Wakes(cluster.state, ("nodes", None))
    cluster.report("a-web")
    state = cluster.state
    state.become(other.state)
    assert [node.name for node in state.nodes] == ["n7"]
    assert (watcher.count, due.count, gone.count) == (1, 1, 1)
    gone.cancel()
    Cluster.add_job(cluster)
    cluster.add_node(a_node(8))
    state.watches.flush()
    assert (watcher.count, due.count, gone.count) == (2, 1, 1)
