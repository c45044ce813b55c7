"""What is done next about an allocation of a push node."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.state.builders import Cluster, a_node
from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedPort
from yurt.model.deliveries import Delivery
from yurt.model.node import NODE_DOWN, NODE_READY
from yurt.model.push_nodes import ENDPOINT_LINK
from yurt.model.wire import AllocID, NodeID
from yurt.server.push.steps import Step, next_step
from yurt.state.entries import SetNodeStatus
from yurt.state.simple_entries import RecordDeliveries

ALLOC = AllocID("a1")
NEVER, BEGUN, TAKEN = None, 0, 1


class World:
    """A push node with an allocation, in whatever state."""

    def __init__(self, **alloc: Any) -> None:
        self.cluster = Cluster()
        self.node = self.cluster.add_node(replace(a_node(), links={ENDPOINT_LINK: "http://h:1"}))
        job = self.cluster.add_job()
        self.cluster.place(job, "a1", "a2", node=self.node)
        self.change("a1", **alloc)

    def change(self, alloc_id: str, **changes: Any) -> None:
        state = self.cluster.state
        alloc: Allocation = state.allocs[AllocID(alloc_id)]
        if ports := changes.pop("ports", ()):
            given = tuple(AllocatedPort(label="p", value=port, host_ip="10.0.0.1") for port in ports)
            shared = replace(alloc.resources.shared, ports=given)
            changes["resources"] = replace(alloc.resources, shared=shared)
        state.allocs.put(alloc.id, replace(alloc, **changes), state.index)

    def deliver(self, alloc_id: str, accepted_at: int, **more: Any) -> None:
        delivery = Delivery(alloc_id=AllocID(alloc_id), node_id=self.node.id, accepted_at=accepted_at, **more)
        self.cluster.apply(RecordDeliveries(at=1, deliveries=(delivery,)))

    def set_status(self, status: str) -> None:
        self.cluster.apply(SetNodeStatus(at=1, node_id=self.node.id, status=status))

    def step(self, alloc_id: str = "a1", *, said_failed: bool = False) -> Step:
        node_id: NodeID = self.node.id
        return next_step(self.cluster.state, node_id, AllocID(alloc_id), said_failed=said_failed)


@pytest.mark.parametrize(
    ("delivered", "desired", "client", "node", "step"),
    [
        (NEVER, "run", "pending", NODE_READY, Step.BEGIN),
        (NEVER, "run", "pending", NODE_DOWN, Step.NOTHING),
        (NEVER, "run", "complete", NODE_READY, Step.NOTHING),
        (NEVER, "stop", "pending", NODE_READY, Step.END),
        (NEVER, "stop", "complete", NODE_READY, Step.NOTHING),
        (BEGUN, "run", "pending", NODE_READY, Step.DELIVER),
        (BEGUN, "run", "pending", NODE_DOWN, Step.NOTHING),
        (BEGUN, "stop", "pending", NODE_READY, Step.REMOVE),
        (BEGUN, "run", "failed", NODE_READY, Step.REMOVE),
        (TAKEN, "run", "running", NODE_READY, Step.NOTHING),
        (TAKEN, "run", "complete", NODE_READY, Step.NOTHING),
        (TAKEN, "run", "failed", NODE_READY, Step.REMOVE),
        (TAKEN, "stop", "running", NODE_READY, Step.REMOVE),
        (TAKEN, "stop", "running", NODE_DOWN, Step.NOTHING),
        (TAKEN, "stop", "lost", NODE_READY, Step.REMOVE),
    ],
)
def test_what_is_wanted_is_compared_with_what_was_given(
    delivered: int | None, desired: str, client: str, node: str, step: Step
) -> None:
    world = World(desired_status=desired, client_status=client)
    if delivered is not None:
        world.deliver("a1", delivered)
    world.set_status(node)
    assert world.step() is step


def test_what_a_node_calls_failed_is_removed() -> None:
    world = World(client_status="running")
    world.deliver("a1", TAKEN)
    assert world.step(said_failed=True) is Step.REMOVE


def test_what_was_forgotten_is_removed_all_the_same() -> None:
    world = World()
    world.deliver("a1", TAKEN)
    world.cluster.state.allocs.delete(ALLOC, world.cluster.state.index)
    assert world.step() is Step.REMOVE


@pytest.mark.parametrize(
    ("old", "is_waiting"),
    [
        pytest.param({"desired_status": "stop", "client_status": "running"}, True, id="being stopped"),
        pytest.param({"desired_status": "stop", "client_status": "lost"}, True, id="lost, and back"),
        pytest.param({"desired_status": "run", "client_status": "running"}, False, id="a canary's"),
    ],
)
def test_a_replacement_waits_until_what_it_replaces_is_gone(old: dict[str, str], is_waiting: bool) -> None:
    world = World(**old)
    world.deliver("a1", TAKEN)
    world.change("a2", previous_allocation="a1")
    assert world.step("a2") is (Step.WAIT if is_waiting else Step.BEGIN)
    world.cluster.state.deliveries.delete(ALLOC, world.cluster.state.index)
    assert world.step("a2") is Step.BEGIN


def test_a_port_is_taken_until_its_holder_is_gone_from_the_node() -> None:
    world = World()
    world.deliver("a1", TAKEN, ports=(8080,))
    world.cluster.state.allocs.delete(ALLOC, world.cluster.state.index)
    world.change("a2", ports=(8080,))
    assert world.step("a2") is Step.WAIT
    world.change("a2", ports=(8081,))
    assert world.step("a2") is Step.BEGIN
