"""Which jobs must be looked at when a node changes."""

from __future__ import annotations

from itertools import count

import pytest
from msgspec.structs import replace

from tests.state.builders import START_NS, Cluster, a_job, a_node
from yurt.model.evaluation import Evaluation
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM, Job
from yurt.model.node import (
    DriverInfo,
    HostVolume,
    Node,
    NodeCpu,
    NodeDeviceResource,
    NodeMemory,
    NodeResources,
)
from yurt.server.node_evals import evals_for_node, registration_change_matters, status_change_matters


def _evals(cluster: Cluster, node: Node) -> list[Evaluation]:
    ids = count(1)
    return list(evals_for_node(cluster.state, node, now=START_NS, new_id=lambda: f"e{next(ids)}"))


@pytest.mark.parametrize(
    ("kind", "desired", "client", "is_concerned"),
    [
        (SERVICE, "run", "running", True),
        (SERVICE, "stop", "running", True),
        (SERVICE, "run", "failed", True),
        (SERVICE, "stop", "complete", False),
        (BATCH, "run", "running", True),
        (BATCH, "stop", "running", True),
        (BATCH, "run", "complete", False),
        (SYSBATCH, "run", "running", False),
    ],
)
def test_jobs_with_work_on_the_node(kind: str, desired: str, client: str, is_concerned: bool) -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job(a_job(type=kind))
    cluster.place(job, "a1", "a2", node=node)
    for alloc_id in ("a1", "a2"):
        cluster.report(alloc_id, client)
        if desired == "stop":
            cluster.stop(alloc_id)
    found = _evals(cluster, node)
    assert [one.job_id for one in found] == (["web"] if is_concerned else [])


@pytest.mark.parametrize(
    ("changes", "is_concerned"),
    [
        ({}, True),
        ({"datacenters": ("dc1",)}, True),
        ({"datacenters": ("dc2", "dc*")}, True),
        ({"datacenters": ("dc2",)}, False),
        ({"datacenters": ("DC1",)}, False),
        ({"datacenters": ("dc?",)}, False),
        ({"datacenters": ("dc[1]",)}, False),
        ({"datacenters": ("*c*",)}, True),
        ({"node_pool": "all"}, True),
        ({"node_pool": "gpu"}, False),
        ({"stop": True}, False),
        ({"type": SYSBATCH}, False),
        ({"type": SERVICE}, False),
    ],
)
def test_system_jobs_that_may_run_there(changes: dict[str, object], is_concerned: bool) -> None:
    cluster = Cluster()
    node = cluster.add_node()
    cluster.add_job(replace(a_job(type=SYSTEM), **changes))
    assert bool(_evals(cluster, node)) is is_concerned


def test_what_such_an_evaluation_says() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job: Job = cluster.add_job(a_job(type=SYSTEM, priority=70))
    cluster.place(job, "a1", node=node)
    (found,) = _evals(cluster, node)
    assert (found.type, found.triggered_by, found.priority, found.status) == (
        SYSTEM,
        "node-update",
        70,
        "pending",
    )
    assert (found.node_id, found.node_modify_index) == (node.id, node.modify_index)
    assert found.job_modify_index == job.job_modify_index


@pytest.mark.parametrize(
    ("old", "new", "matters"),
    [
        ("initializing", "ready", True),
        ("down", "ready", True),
        ("disconnected", "ready", True),
        ("disconnected", "initializing", True),
        ("ready", "disconnected", True),
        ("ready", "down", True),
        ("down", "down", True),
        ("ready", "ready", False),
        ("disconnected", "disconnected", False),
        ("down", "initializing", False),
        ("ready", "initializing", False),
    ],
)
def test_changes_of_status(old: str, new: str, matters: bool) -> None:
    assert status_change_matters(old, new) is matters


@pytest.mark.parametrize(
    ("changes", "matters"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"datacenter": "dc2"}, True, id="datacenter"),
        pytest.param({"name": "other"}, True, id="name"),
        pytest.param({"node_class": "big"}, True, id="class"),
        pytest.param({"attributes": {"kernel.name": "bsd"}}, True, id="attributes"),
        pytest.param({"meta": {"rack": "r1"}}, True, id="meta"),
        pytest.param({"drivers": {"raw_exec": DriverInfo(detected=True)}}, True, id="driver health"),
        pytest.param(
            {"drivers": {"raw_exec": DriverInfo(detected=True, healthy=True, health_description="x")}},
            False,
            id="words about a driver",
        ),
        pytest.param({"host_volumes": {"data": HostVolume(name="data")}}, True, id="volumes"),
        pytest.param(
            {"node_resources": NodeResources(devices=(NodeDeviceResource(name="gpu"),))}, True, id="devices"
        ),
        pytest.param(
            {"node_resources": NodeResources(cpu=NodeCpu(cpu_shares=1), memory=NodeMemory(memory_mb=1))},
            False,
            id="capacity alone",
        ),
        pytest.param({"http_addr": "10.0.0.1:4646"}, False, id="address"),
        pytest.param({"status": "down"}, True, id="status"),
    ],
)
def test_changes_of_a_registration(changes: dict[str, object], matters: bool) -> None:
    assert registration_change_matters(a_node(), replace(a_node(), **changes)) is matters
