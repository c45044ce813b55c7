"""Heartbeats: how often nodes must be heard, and which are silent."""

from __future__ import annotations

import pytest

from tests.state.builders import node_id
from yurt.server.heartbeats import HeartbeatTimers


def test_a_silent_node_is_named_once() -> None:
    timers = HeartbeatTimers(min_ttl_s=5, grace_s=4)
    assert timers.beat(node_id(1), now=0) == 5
    timers.beat(node_id(2), now=3)
    assert timers.take_silent(now=8.9) == []
    assert timers.take_silent(now=9) == [node_id(1)]
    assert timers.take_silent(now=9) == []
    timers.beat(node_id(2), now=10)
    assert timers.take_silent(now=18) == []


@pytest.mark.parametrize(("nodes", "ttl_s"), [(1, 10.0), (500, 10.0), (1001, 20.0), (5001, 100.0)])
def test_many_nodes_beat_less_often(nodes: int, ttl_s: float) -> None:
    timers = HeartbeatTimers(min_ttl_s=10, grace_s=10, max_per_second=50)
    for number in range(nodes - 1):
        timers.beat(node_id(number), now=0)
    assert timers.beat(node_id(nodes), now=0) == ttl_s


def test_an_expected_node_has_its_time_unless_it_was_heard() -> None:
    timers = HeartbeatTimers(min_ttl_s=5, grace_s=4)
    timers.beat(node_id(1), now=0)
    timers.expect(node_id(1), now=0, within_s=100)
    timers.expect(node_id(2), now=0, within_s=30)
    assert timers.take_silent(now=29) == [node_id(1)]
    assert timers.take_silent(now=30) == [node_id(2)]


def test_a_forgotten_node_is_not_missed() -> None:
    timers = HeartbeatTimers()
    timers.beat(node_id(1), now=0)
    timers.forget(node_id(1))
    timers.forget(node_id(1))
    assert timers.take_silent(now=1000) == []
