"""Nodes: registration, status, eligibility, drains, and their history."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.state.builders import START_NS, Cluster, a_node, an_eval, node_id
from yurt.model.node import (
    NODE_EVENTS_MAX,
    DrainMetadata,
    DrainStrategy,
    Node,
    NodeEvent,
    NodeMemory,
    NodeResources,
)
from yurt.model.times import MINUTE_NS, SECOND_NS, time_text
from yurt.model.wire import EvalID, NodeID
from yurt.state.apply_nodes import NodeOutcome
from yurt.state.entries import (
    DeregisterNodes,
    RegisterNode,
    SetNodeDrain,
    SetNodeEligibility,
    SetNodeStatus,
)

DRAIN = DrainStrategy(deadline=MINUTE_NS)


def test_a_first_registration() -> None:
    cluster = Cluster()
    at = START_NS + 1_500_000_000
    cluster.apply(RegisterNode(at=at, node=a_node(), evals=(an_eval("e1"),)))
    node = cluster.state.nodes[node_id(1)]
    assert (node.create_index, node.modify_index) == (1, 1)
    assert node.status_updated_at == at // SECOND_NS
    assert node.computed_class.startswith("v1:")
    assert node.events == (
        NodeEvent(message="Node registered", subsystem="Cluster", timestamp=time_text(START_NS + SECOND_NS)),
    )
    assert cluster.state.evals[EvalID("e1")].create_index == 1
    assert [one.id for one in cluster.state.news.ready_nodes] == [node.id]


def test_a_node_is_the_first_of_its_pool() -> None:
    cluster = Cluster()
    node = cluster.add_node(a_node(node_pool="gpu"))
    pool = cluster.state.node_pools["gpu"]
    assert (pool.create_index, pool.modify_index, pool.hash) == (node.create_index, node.create_index, None)
    cluster.add_node(a_node(2, node_pool="gpu"))
    assert cluster.state.node_pools["gpu"] is pool


def test_a_new_registration_keeps_what_operators_set_and_the_history() -> None:
    cluster = Cluster()
    cluster.add_node()
    cluster.apply(
        SetNodeDrain(at=cluster.now, node_id=node_id(1), drain=DRAIN, event="Node drain strategy set")
    )
    old = cluster.state.nodes[node_id(1)]
    bigger = NodeResources(memory=NodeMemory(memory_mb=999))
    node = cluster.add_node(a_node(node_resources=bigger, scheduling_eligibility="eligible"))
    assert node.node_resources == bigger
    for name in ("create_index", "drain_strategy", "scheduling_eligibility", "events", "last_drain"):
        assert getattr(node, name) == getattr(old, name), name


def test_a_changed_status_of_a_known_node_is_an_event() -> None:
    cluster = Cluster()
    cluster.add_node(a_node(status="initializing"))
    node = cluster.add_node(a_node())
    assert [event.message for event in node.events or ()] == ["Node registered", "Node re-registered"]
    assert node.events is not None
    assert node.events[-1].create_index == 2


@pytest.mark.parametrize(
    ("statuses", "missed"),
    [
        pytest.param(("down",), 2, id="fell silent"),
        pytest.param(("disconnected",), 2, id="disconnected"),
        pytest.param(("disconnected", "down"), 2, id="stayed silent"),
        pytest.param(("down", "initializing"), 2, id="not ready yet"),
        pytest.param(("down", "ready"), 0, id="came back"),
        pytest.param(("initializing",), 0, id="never silent"),
    ],
)
def test_the_index_of_the_last_missed_heartbeat(statuses: tuple[str, ...], missed: int) -> None:
    cluster = Cluster()
    cluster.add_node()
    for status in statuses:
        cluster.apply(SetNodeStatus(at=cluster.now, node_id=node_id(1), status=status))
    assert cluster.state.nodes[node_id(1)].last_missed_heartbeat_index == missed


def test_a_status_without_an_event_leaves_the_history_alone() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    cluster.apply(SetNodeStatus(at=cluster.now, node_id=node.id, status="down"))
    assert cluster.state.nodes[node.id].events == node.events


def test_only_the_newest_events_are_kept() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    for number in range(NODE_EVENTS_MAX + 3):
        cluster.apply(SetNodeStatus(at=cluster.now, node_id=node.id, status="down", event=str(number)))
    events = cluster.state.nodes[node.id].events or ()
    assert [event.message for event in events] == [str(number) for number in range(3, 13)]


def _change_eligibility(cluster: Cluster, eligibility: str) -> Node:
    cluster.apply(SetNodeEligibility(at=cluster.now, node_id=node_id(1), eligibility=eligibility))
    return cluster.state.nodes[node_id(1)]


def _drain(cluster: Cluster, drain: DrainStrategy | None, **more: object) -> Node:
    cluster.apply(SetNodeDrain(at=cluster.now, node_id=node_id(1), drain=drain, **more))  # type: ignore[arg-type]
    return cluster.state.nodes[node_id(1)]


def test_eligibility_decides_over_readiness() -> None:
    cluster = Cluster()
    cluster.add_node()
    slot = cluster.state.columns.slots[node_id(1)]
    assert not _change_eligibility(cluster, "ineligible").is_ready
    assert not cluster.state.columns.ready[slot]
    cluster.state.take_news()
    assert _change_eligibility(cluster, "eligible").is_ready
    assert cluster.state.columns.ready[slot]
    assert len(cluster.state.news.ready_nodes) == 1


def test_a_draining_node_stays_ineligible() -> None:
    cluster = Cluster()
    cluster.add_node()
    draining = _drain(cluster, DRAIN)
    assert draining.scheduling_eligibility == "ineligible"
    assert _change_eligibility(cluster, "eligible") is draining


@pytest.mark.parametrize(("mark_eligible", "eligibility"), [(True, "eligible"), (False, "ineligible")])
def test_the_end_of_a_drain_makes_eligible_only_if_asked_to(mark_eligible: bool, eligibility: str) -> None:
    cluster = Cluster()
    cluster.add_node()
    _drain(cluster, DRAIN)
    node = _drain(cluster, None, mark_eligible=mark_eligible)
    assert node.drain_strategy is None
    assert node.scheduling_eligibility == eligibility


def test_the_last_drain_is_remembered() -> None:
    cluster = Cluster()
    cluster.add_node()
    started = time_text(cluster.now)
    assert _drain(cluster, DRAIN, meta={"by": "ops"}).last_drain == DrainMetadata(
        started_at=started, updated_at=started, status="draining", meta={"by": "ops"}
    )
    updated = time_text(cluster.now)
    assert _drain(cluster, replace(DRAIN, deadline=5)).last_drain == DrainMetadata(
        started_at=started, updated_at=updated, status="draining", meta={"by": "ops"}
    )
    ended = time_text(cluster.now)
    assert _drain(cluster, None).last_drain == DrainMetadata(
        started_at=started, updated_at=ended, status="canceled", meta={"by": "ops"}
    )
    _drain(cluster, DRAIN)
    completed = _drain(cluster, None, is_complete=True, meta={"by": "drainer"}).last_drain
    assert completed is not None
    assert (completed.status, completed.meta) == ("complete", {"by": "drainer"})
    assert _drain(cluster, None).last_drain == completed, "there is no drain to end"


def test_a_drain_event_has_its_details() -> None:
    cluster = Cluster()
    cluster.add_node()
    at = cluster.now
    node = _drain(cluster, DRAIN, event="Node drain strategy set", details={"forced": "true"})
    assert node.events is not None
    assert node.events[-1] == NodeEvent(
        message="Node drain strategy set",
        subsystem="Drain",
        details={"forced": "true"},
        timestamp=time_text(at),
        create_index=2,
    )


@pytest.mark.parametrize(
    "entry",
    [
        SetNodeStatus(at=1, node_id=NodeID("unknown"), status="down", evals=(an_eval("e1"),)),
        SetNodeEligibility(at=1, node_id=NodeID("unknown"), eligibility="eligible", evals=(an_eval("e1"),)),
        SetNodeDrain(at=1, node_id=NodeID("unknown"), drain=DRAIN, evals=(an_eval("e1"),)),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_an_unknown_node_changes_nothing(
    entry: SetNodeStatus | SetNodeEligibility | SetNodeDrain,
) -> None:
    cluster = Cluster()
    assert cluster.apply(entry) == NodeOutcome(node=None)
    assert len(cluster.state.evals) == 0
    assert cluster.state.nodes.index == 0


def test_a_node_that_goes_down_frees_nothing() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    cluster.state.take_news()
    cluster.apply(SetNodeStatus(at=cluster.now, node_id=node.id, status="down"))
    assert not cluster.state.news.freed_nodes
    assert not cluster.state.news.ready_nodes


def test_a_forgotten_node_leaves_its_allocations_and_takes_them_up_when_it_returns() -> None:
    cluster = Cluster()
    node = cluster.add_node()
    job = cluster.add_job()
    cluster.place(job, "a1", node=node)
    cluster.apply(
        DeregisterNodes(at=cluster.now, node_ids=(node.id, NodeID("unknown")), evals=(an_eval("e1"),))
    )
    assert node.id not in cluster.state.nodes
    assert node.id not in cluster.state.columns.slots
    assert len(cluster.state.allocs.of_node(node.id)) == 1
    assert EvalID("e1") in cluster.state.evals
    cluster.add_node(a_node(2))
    cluster.add_node()
    slot = cluster.state.columns.slots[node.id]
    assert cluster.state.columns.used[0, slot] == 500
