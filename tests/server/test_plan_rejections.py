"""Nodes that plans keep failing on take no more work, if the operator wants that."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.scheduler.placement.builders import a_group, a_job, a_node, a_state, a_task, some_resources
from tests.scheduler.placement.plans import a_plan
from yurt.clock import SystemClock
from yurt.log import MemoryLog
from yurt.model.evaluation import Evaluation
from yurt.model.node import NODE_ELIGIBLE, NODE_INELIGIBLE
from yurt.model.wire import EvalID, NodeID
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.requests import Placed, PlaceRequest
from yurt.server.committer import Committer
from yurt.server.plan_applier import PlanApplier
from yurt.server.plan_rejections import (
    NODES_MAX,
    SET_ASIDE_BURST,
    SET_ASIDE_REFILL_S,
    PlanRejections,
    RejectionLimits,
)

A = NodeID("a")


def test_a_node_is_named_once_enough_plans_failed_within_the_window() -> None:
    rejections = PlanRejections(RejectionLimits(threshold=3, window_s=10.0))
    assert [rejections.add([A], now=at) for at in (0.0, 1.0, 11.5, 12.0)] == [[], [], [], []]
    assert rejections.add([A], now=13.0) == [A]


def test_only_so_many_nodes_are_named_at_once() -> None:
    rejections = PlanRejections(RejectionLimits(threshold=1, window_s=10.0))
    nodes = [NodeID(str(number)) for number in range(SET_ASIDE_BURST + 5)]
    assert rejections.add(nodes, now=0.0) == nodes[:SET_ASIDE_BURST]
    assert rejections.add(nodes, now=SET_ASIDE_REFILL_S) == nodes[:1]


def test_the_node_that_was_refused_longest_ago_is_forgotten_first() -> None:
    rejections = PlanRejections(RejectionLimits(threshold=2, window_s=10.0))
    rejections.add([A], now=0.0)
    rejections.add([NodeID(str(number)) for number in range(NODES_MAX)], now=0.0)
    assert rejections.add([A], now=1.0) == []
    assert rejections.add([A], now=1.0) == [A]


async def _eligibility_after_failures(limits: RejectionLimits | None) -> tuple[str, str]:
    """Submit two plans that ask too much of a node; give what became of it and its last event."""
    node = a_node(0, cpu=500)
    state = a_state([node])
    clock = SystemClock()
    applier = PlanApplier(Committer(state, MemoryLog()), clock, lambda: "id", rejections=limits)
    job = a_job(a_group("g", a_task(cpu=1000)))
    placed = Placed(
        request=PlaceRequest(name_index=0),
        node_id=node.id,
        resources=some_resources(cpu=1000),
        metrics=b"",
    )
    evaluation = Evaluation(id=EvalID("e"), job_id=job.id)
    attempt = Attempt(evaluation=evaluation, resume=evaluation, plan=a_plan(job, [placed]))
    running = asyncio.create_task(applier.run())
    for _ in range(2):
        (result,) = await applier.submit([attempt])
        assert not result.is_complete
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    after = state.nodes[node.id]
    event = (after.events or ())[-1:]
    return after.scheduling_eligibility, "".join(f"{one.subsystem}: {one.message}" for one in event)


async def test_the_applier_sets_aside_a_node_that_plans_keep_failing_on() -> None:
    assert await _eligibility_after_failures(RejectionLimits(threshold=2, window_s=60.0)) == (
        NODE_INELIGIBLE,
        "Scheduler: Node marked as ineligible for scheduling due to multiple plan rejections",
    )


async def test_without_limits_no_node_is_set_aside() -> None:
    assert await _eligibility_after_failures(None) == (NODE_ELIGIBLE, "")
