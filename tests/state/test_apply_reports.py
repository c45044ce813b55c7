"""What nodes report, and what servers want of allocations."""

from __future__ import annotations

import pytest

from tests.state.builders import Cluster, an_eval, key
from yurt.model.alloc import DesiredTransition, NetworkStatus
from yurt.model.node import Node
from yurt.model.wire import AllocID, EvalID
from yurt.state.entries import AllocReport, ReportAllocs, SetDesiredTransitions


def _placed(cluster: Cluster, *alloc_ids: str) -> Node:
    node = cluster.add_node()
    cluster.place(cluster.add_job(), *alloc_ids, node=node)
    cluster.state.take_news()
    return node


def test_a_report_is_stored() -> None:
    cluster = Cluster()
    _placed(cluster, "a1")
    at = cluster.now
    network = NetworkStatus(address="172.26.64.5")
    alloc = cluster.report(
        "a1", client_description="Tasks are running", task_states=b"\x80", network_status=network
    )
    assert (alloc.client_status, alloc.client_description) == ("running", "Tasks are running")
    assert (alloc.task_states, alloc.network_status) == (b"\x80", network)
    assert (alloc.modify_index, alloc.modify_time) == (4, at)
    assert alloc.alloc_modify_index == 3, "its node knows already"


def test_a_report_without_details_keeps_those_of_the_last() -> None:
    cluster = Cluster()
    _placed(cluster, "a1")
    cluster.report("a1", task_states=b"\x80", healthy=True, network_status=NetworkStatus(address="x"))
    alloc = cluster.report("a1", "complete")
    assert alloc.task_states == b"\x80"
    assert alloc.network_status == NetworkStatus(address="x")
    assert alloc.deployment_status is not None


def test_a_report_on_an_unknown_allocation_is_dropped() -> None:
    cluster = Cluster()
    _placed(cluster, "a1")
    reports = (AllocReport(id=AllocID("unknown"), client_status="running"),)
    cluster.apply(ReportAllocs(at=cluster.now, reports=reports, evals=(an_eval("e1"),)))
    assert cluster.state.allocs.index == 3
    assert EvalID("e1") in cluster.state.evals


@pytest.mark.parametrize(
    ("statuses", "is_freed"),
    [
        (("running",), False),
        (("complete",), True),
        (("failed",), True),
        (("unknown",), False),
    ],
)
def test_an_ended_allocation_frees_its_node_once(statuses: tuple[str, ...], is_freed: bool) -> None:
    cluster = Cluster()
    node = _placed(cluster, "a1")
    for status in statuses:
        cluster.report("a1", status)
    assert (node.id in cluster.state.take_news().freed_nodes) is is_freed
    cluster.report("a1", statuses[-1])
    assert not cluster.state.take_news().freed_nodes


def test_only_flags_that_are_set_overwrite() -> None:
    cluster = Cluster()
    _placed(cluster, "a1")
    for transition in (
        DesiredTransition(migrate=True, reschedule=False),
        DesiredTransition(reschedule=True, no_shutdown_delay=True),
    ):
        wanted = {AllocID("a1"): transition, AllocID("unknown"): transition}
        cluster.apply(SetDesiredTransitions(at=cluster.now, transitions=wanted, evals=(an_eval("e1"),)))
    alloc = cluster.state.allocs[AllocID("a1")]
    assert alloc.desired_transition == DesiredTransition(
        migrate=True, reschedule=True, no_shutdown_delay=True
    )
    assert (alloc.modify_index, alloc.alloc_modify_index) == (5, 5)
    assert cluster.state.evals[EvalID("e1")].modify_index == 5
    assert cluster.state.jobs[key()].status == "running"
