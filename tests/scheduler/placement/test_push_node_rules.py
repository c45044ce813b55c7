"""Which nodes a job may run on where some of them are push nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.state.builders import Cluster, a_node
from yurt.model.canonical import canonical_job
from yurt.model.push_nodes import node_key
from yurt.model.simple.fields import Fields
from yurt.model.simple.jobs import job_request
from yurt.model.simple.push_messages import read_registration
from yurt.model.simple.push_registration import push_node
from yurt.scheduler.feasible.group import feasibility

REGISTRATION = {
    "node_id": "pushy",
    "ip_address": "10.0.0.7",
    "resources": {"cpu": 1000, "memory": 4000},
    "healthy": True,
    "endpoint": "http://10.0.0.7:8501/",
}
PUSH, OWN = "pushy", "own"


def cluster(**registration: Any) -> Cluster:
    """One node of Yurt's own with metadata, and one push node."""
    made = Cluster()
    made.add_node(
        a_node(1, name=OWN, node_class="big", meta={"rack": "r1"}, attributes={"kernel.name": "linux"})
    )
    said = read_registration(Fields({**REGISTRATION, **registration}))
    made.add_node(push_node(said, datacenter="dc1", secret_id="s"))
    return made


def fitting(made: Cluster, document: dict[str, Any]) -> set[str]:
    """The names of the nodes that a simple job may run on, drivers aside."""
    request = job_request(Fields(document), job_id="j", region="global")
    job = canonical_job(request, region="global", new_id=str)
    columns = made.state.columns
    rules = [
        rule for rule in feasibility(columns, job, job.task_groups[0]).rules if "driver" not in rule.label
    ]
    names = [node.name for node in columns.nodes if node is not None]
    return {name for slot, name in enumerate(names) if all(rule.mask[slot] for rule in rules)}


def a_document(task: dict[str, Any] | None = None, **group: Any) -> dict[str, Any]:
    base = {"name": "t", "config": {"image": "i"}, **(task or {})}
    return {"task_groups": [{"name": "g", "tasks": [base], **group}]}


@pytest.mark.parametrize(
    ("constraints", "nodes"),
    [
        ({"region": "global"}, {PUSH, OWN}),
        ({"region": "us-west"}, {PUSH}),
        ({"datacenter": "dc1"}, {PUSH, OWN}),
        ({"datacenter": "dc2"}, {PUSH}),
        ({"node_class": "big"}, {PUSH, OWN}),
        ({"node_class": "small"}, {PUSH}),
        ({"rack": "r1"}, {PUSH, OWN}),
        ({"rack": "r2"}, {PUSH}),
        ({"unheard_of": "x"}, {PUSH}),
    ],
)
def test_a_push_node_is_not_judged_by_what_it_never_declared(
    constraints: dict[str, str], nodes: set[str]
) -> None:
    assert fitting(cluster(), {**a_document(), "constraints": constraints}) == nodes


@pytest.mark.parametrize(
    ("attribute", "operator", "value", "nodes"),
    [
        ("node_id", "=", "pushy", {PUSH}),
        ("node_id", "!=", "pushy", {OWN}),
        ("ip_address", "=", "10.0.0.7", {PUSH}),
        ("rack", "=", "r1", {OWN}),
        ("rack", "!=", "r2", {OWN}),
        ("kernel.name", "regex", "^lin", {OWN}),
        ("unheard_of", "!=", "x", set()),
    ],
)
def test_rules_of_a_group_are_strict_everywhere(
    attribute: str, operator: str, value: str, nodes: set[str]
) -> None:
    rule = {"attribute": attribute, "operator": operator, "value": value}
    assert fitting(cluster(), a_document(constraints=[rule])) == nodes


@pytest.mark.parametrize(
    "document",
    [
        a_document({"env": {"A": "b"}}),
        a_document({"user": "nobody"}),
        a_document({"templates": [{"embedded_tmpl": "x", "dest_path": "y"}]}),
        a_document({"artifacts": [{"getter_source": "http://h/x"}]}),
        a_document({"driver": "exec", "config": {"command": "x"}}),
        a_document(services=[{"name": "s", "provider": "nomad"}]),
        a_document(networks=[{"dynamic_ports": [{"label": "http"}]}]),
        a_document(networks=[{"mode": "bridge"}]),
        a_document(volumes={"v": {"type": "host", "source": "v"}}),
    ],
)
def test_a_push_node_gets_only_plain_processes_and_containers(document: dict[str, Any]) -> None:
    assert PUSH not in fitting(cluster(), document)


def test_a_node_that_is_not_healthy_gets_nothing() -> None:
    made = cluster(healthy=False)
    request = job_request(Fields(a_document()), job_id="j", region="global")
    job = canonical_job(request, region="global", new_id=str)
    found = feasibility(made.state.columns, job, job.task_groups[0])
    assert not found.mask[made.state.columns.slots[node_key("pushy")]]


def test_ids_that_are_no_uuids_become_one_always_the_same() -> None:
    uuid = "6f0e0c9e-1111-4222-8333-444455556666"
    assert node_key(uuid) == uuid
    assert node_key("node-1") == node_key("node-1") != node_key("node-2")
    assert len(node_key("node-1")) == 36
