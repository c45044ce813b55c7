"""What every node says to one more instance."""

from __future__ import annotations

from msgspec.structs import replace

from tests.scheduler.placement.builders import (
    a_constraint,
    a_group,
    a_job,
    a_node,
    a_state,
    a_task,
    an_alloc,
    some_resources,
)
from yurt.model.node import NODE_DOWN, NODE_INELIGIBLE, DrainStrategy
from yurt.model.resources import NetworkResource, Port
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.scheduler.explain import NodeVerdict, Verdict, explain_group
from yurt.scheduler.view import View


def test_every_node_says_why() -> None:
    nodes = [
        a_node(0, meta={"rack": "r1"}),
        a_node(1, meta={"rack": "r2"}),
        a_node(2, meta={"rack": "r1"}, cpu=400),
        replace(a_node(3), status=NODE_DOWN),
        replace(a_node(4), drain_strategy=DrainStrategy()),
        replace(a_node(5), scheduling_eligibility=NODE_INELIGIBLE),
        a_node(6, node_pool="gpu"),
        a_node(7, datacenter="elsewhere"),
        a_node(8, meta={"rack": "r1"}, healthy=False),
        a_node(9, meta={"rack": "r1"}),
    ]
    job = a_job(
        a_group("g", a_task(cpu=500), constraints=[a_constraint("", "distinct_hosts")]),
        constraints=[a_constraint("${meta.rack}", "=", "r1")],
        datacenters=("dc*",),
    )
    own = an_alloc(0, nodes[9], job=job, resources=some_resources())
    view = View(a_state(nodes, [own]))
    verdicts = explain_group(view, job, job.task_groups[0], configuration=SchedulerConfiguration())
    best, *others = verdicts
    assert (best.node_name, best.verdict) == ("n0", Verdict.SUITS)
    assert best.score == best.scores["binpack"] > 0
    said = {one.node_name: (one.verdict, one.rule, one.found, one.wanted) for one in others}
    outside, filtered = Verdict.NOT_CONSIDERED, Verdict.FILTERED
    assert said == {
        "n1": (filtered, "${meta.rack} = r1", "r2", "r1"),
        "n2": (Verdict.EXHAUSTED, "cpu", "400", "500"),
        "n3": (outside, "ready", "down", "ready"),
        "n4": (outside, "ready", "draining", "ready"),
        "n5": (outside, "ready", "ineligible", "ready"),
        "n6": (outside, "node pool", "gpu", "default"),
        "n7": (outside, "datacenter", "elsewhere", "dc*"),
        "n8": (filtered, "missing drivers", None, None),
        "n9": (filtered, "distinct_hosts", "1", "0"),
    }


def test_ports_and_properties_are_explained() -> None:
    nodes = [a_node(0, reserved_ports="80", meta={"rack": "r1"}), a_node(1)]
    network = NetworkResource(reserved_ports=(Port(label="http", value=80),))
    group = a_group(network=network, constraints=[a_constraint("${meta.rack}", "distinct_property", "2")])
    verdicts = explain_group(
        View(a_state(nodes)), a_job(group), group, configuration=SchedulerConfiguration()
    )
    assert [(one.node_name, one.rule) for one in verdicts] == [
        ("n1", 'missing property "${meta.rack}"'),
        ("n0", "network: reserved port collision http=80"),
    ]


def test_asking_changes_nothing() -> None:
    view = View(a_state([a_node(0)]))
    before = view.used.copy()
    job = a_job(a_group(network=NetworkResource(dynamic_ports=(Port(label="a"),))))
    one, two = (
        explain_group(view, job, job.task_groups[0], configuration=SchedulerConfiguration()) for _ in range(2)
    )
    assert one == two
    assert isinstance(one[0], NodeVerdict)
    assert (view.used == before).all()
    assert view.claims(0) == {}
