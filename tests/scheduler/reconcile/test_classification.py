"""Each allocation is classed by its own state and its node's."""

from __future__ import annotations

import pytest

from tests.scheduler.reconcile.builders import NODES, NOW, a_group, a_job, an_alloc
from yurt.model.alloc import Allocation, AllocStateChange, DesiredTransition
from yurt.model.policies import DisconnectStrategy
from yurt.model.times import MINUTE_NS, SECOND_NS, time_text
from yurt.scheduler.reconcile.classify import Class, classify, classify_all
from yurt.scheduler.reconcile.tainted import tainted_nodes

PLAIN = a_job()
KEEPING = a_job(a_group(disconnect=DisconnectStrategy(lost_after=MINUTE_NS)))
NO_REPLACE = a_job(a_group(disconnect=DisconnectStrategy(lost_after=MINUTE_NS, replace=False)))
MIGRATE = DesiredTransition(migrate=True)
STAY = DesiredTransition(migrate_disable_placement=True)
RECENT = NOW - SECOND_NS
LONG_AGO = NOW - 2 * MINUTE_NS
BACK = (
    AllocStateChange(value="unknown", time=time_text(RECENT)),
    AllocStateChange(value="running", time=time_text(NOW)),
)


@pytest.mark.parametrize(
    ("alloc", "expected"),
    [
        pytest.param(
            an_alloc(KEEPING, status="failed", unknown_since=RECENT),
            Class.RECONNECTING,
            id="failed while away",
        ),
        pytest.param(
            an_alloc(PLAIN, desired_status="stop", transition=STAY), Class.UNTAINTED, id="drained batch work"
        ),
        pytest.param(an_alloc(PLAIN, desired_status="stop"), Class.IGNORE, id="told to stop"),
        pytest.param(an_alloc(PLAIN, desired_status="evict"), Class.IGNORE, id="evicted"),
        pytest.param(
            an_alloc(PLAIN, status="failed", canary=True, transition=MIGRATE),
            Class.MIGRATE,
            id="ended canary",
        ),
        pytest.param(an_alloc(PLAIN, status="failed", node="down"), Class.UNTAINTED, id="ended, node down"),
        pytest.param(an_alloc(PLAIN, status="complete"), Class.UNTAINTED, id="ended"),
        pytest.param(
            an_alloc(KEEPING, status="unknown", unknown_since=LONG_AGO, node="disconnected"),
            Class.EXPIRING,
            id="unknown for too long",
        ),
        pytest.param(
            an_alloc(KEEPING, status="failed", unknown_since=RECENT, desired_status="stop"),
            Class.IGNORE,
            id="failed while away, and told to stop",
        ),
        pytest.param(
            an_alloc(KEEPING, status="unknown", unknown_since=RECENT, node="disconnected"),
            Class.UNTAINTED,
            id="unknown on a silent node",
        ),
        pytest.param(
            an_alloc(KEEPING, status="pending", node="disconnected"),
            Class.LOST,
            id="never started, silent node",
        ),
        pytest.param(an_alloc(PLAIN, node="disconnected"), Class.LOST, id="silent node, no disconnect block"),
        pytest.param(an_alloc(KEEPING, node="disconnected"), Class.DISCONNECTING, id="silent node"),
        pytest.param(an_alloc(PLAIN, transition=MIGRATE), Class.MIGRATE, id="to migrate"),
        pytest.param(
            an_alloc(PLAIN, transition=MIGRATE, node="draining-and-down"),
            Class.MIGRATE,
            id="to migrate, down",
        ),
        pytest.param(
            an_alloc(KEEPING, status="unknown", unknown_since=RECENT), Class.RECONNECTING, id="node is back"
        ),
        pytest.param(
            an_alloc(KEEPING, unknown_since=RECENT, node="draining"),
            Class.RECONNECTING,
            id="back and draining",
        ),
        pytest.param(an_alloc(KEEPING, alloc_states=BACK), Class.UNTAINTED, id="back for good"),
        pytest.param(an_alloc(PLAIN), Class.UNTAINTED, id="running"),
        pytest.param(an_alloc(PLAIN, node="draining"), Class.UNTAINTED, id="waits for the drainer"),
        pytest.param(an_alloc(PLAIN, node="gone"), Class.LOST, id="node gone"),
        pytest.param(
            an_alloc(NO_REPLACE, status="unknown", unknown_since=RECENT, node="down"),
            Class.UNTAINTED,
            id="not replaced, unknown on a down node",
        ),
        pytest.param(an_alloc(NO_REPLACE, node="down"), Class.DISCONNECTING, id="not replaced, down node"),
        pytest.param(
            an_alloc(NO_REPLACE, status="pending", node="down"), Class.LOST, id="never started, down"
        ),
        pytest.param(an_alloc(PLAIN, node="down"), Class.LOST, id="node down"),
    ],
)
def test_an_allocation_is_classed(alloc: Allocation, expected: Class) -> None:

    tainted = tainted_nodes([alloc], NODES.get)
    assert classify(alloc, tainted, NOW) is expected
    # Sorting many takes a short cut for plain ones, and must agree.
    assert classify_all([alloc], tainted, NOW).of(expected) == [alloc]
