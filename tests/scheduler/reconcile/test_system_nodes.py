"""What becomes of a system or sysbatch job's instances, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

from tests.scheduler.reconcile.builders import NODES, NOW, a_group, a_job, an_alloc, changed
from yurt.model.alloc import Allocation, DesiredTransition
from yurt.model.job import SYSBATCH, SYSTEM, Job
from yurt.model.node import NODE_INELIGIBLE, NODE_INITIALIZING, Node
from yurt.model.policies import DisconnectStrategy
from yurt.model.times import MINUTE_NS, SECOND_NS
from yurt.model.wire import NodeID
from yurt.scheduler.reconcile.system import SystemGroup, SystemSituation, reconcile_system
from yurt.scheduler.reconcile.tainted import tainted_nodes

KEEPING = a_group(count=1, disconnect=DisconnectStrategy(lost_after=MINUTE_NS))
JOB = a_job(KEEPING, kind=SYSTEM)
RUN_ONCE = a_job(KEEPING, kind=SYSBATCH)
MIGRATE = DesiredTransition(migrate=True)
RECENT, LONG_AGO = NOW - SECOND_NS, NOW - 2 * MINUTE_NS

ALL_NODES = {
    **NODES,
    NodeID("ineligible"): replace(
        NODES[NodeID("ready-0")], id=NodeID("ineligible"), scheduling_eligibility=NODE_INELIGIBLE
    ),
    NodeID("initializing"): Node(id=NodeID("initializing"), status=NODE_INITIALIZING),
}


def sorted_out(
    job: Job | None, allocs: Sequence[Allocation], targets: Iterable[str] = ("ready-0",)
) -> SystemGroup:
    found = reconcile_system(
        SystemSituation(
            job=job,
            allocs=allocs,
            tainted=tainted_nodes(allocs, ALL_NODES.get),
            targets=map(NodeID, targets),
            find_node=ALL_NODES.get,
            now=NOW,
        )
    )
    return found["g"]


def fate(job: Job | None, alloc: Allocation) -> list[str]:
    """In which lists one allocation ends up."""
    found = sorted_out(job, [alloc])
    return [
        name for name in SystemGroup.__struct_fields__ if name != "place" and alloc in getattr(found, name)
    ]


@pytest.mark.parametrize(
    ("job", "alloc", "expected"),
    [
        pytest.param(JOB, an_alloc(JOB, 1), "stop", id="a name that is not wanted"),
        pytest.param(None, an_alloc(JOB), "stop", id="the job is gone"),
        pytest.param(replace(JOB, stop=True), an_alloc(JOB), "stop", id="the job is stopped"),
        pytest.param(JOB, an_alloc(JOB, transition=MIGRATE), "migrate", id="to migrate"),
        pytest.param(
            JOB, an_alloc(JOB, transition=MIGRATE, node="down"), "migrate", id="to migrate, whatever its node"
        ),
        pytest.param(
            JOB,
            an_alloc(JOB, status="unknown", unknown_since=LONG_AGO, node="disconnected"),
            "lost",
            id="unknown for too long",
        ),
        pytest.param(
            JOB,
            an_alloc(JOB, status="unknown", unknown_since=RECENT, node="disconnected"),
            "ignore",
            id="unknown",
        ),
        pytest.param(JOB, an_alloc(JOB, unknown_since=RECENT), "reconnecting", id="back"),
        pytest.param(
            RUN_ONCE,
            an_alloc(RUN_ONCE, node="down", finished_at=NOW, status="running"),
            "ignore",
            id="ran well, though its node is down",
        ),
        pytest.param(
            JOB,
            an_alloc(JOB, node="down", finished_at=NOW, status="running"),
            "lost",
            id="a system job's is lost",
        ),
        pytest.param(JOB, an_alloc(JOB, node="disconnected"), "disconnecting", id="silent node"),
        pytest.param(JOB, an_alloc(JOB, node="gone"), "lost", id="node gone"),
        pytest.param(JOB, an_alloc(JOB, node="down"), "lost", id="node down"),
        pytest.param(
            JOB,
            an_alloc(JOB, node="disconnected", status="pending"),
            "ignore",
            id="never started, silent node",
        ),
        pytest.param(JOB, an_alloc(JOB, node="draining"), "ignore", id="waits for the drainer"),
        pytest.param(JOB, an_alloc(JOB, node="ineligible"), "ignore", id="node takes no new work"),
        pytest.param(JOB, an_alloc(JOB, node="initializing"), "ignore", id="node begins"),
        pytest.param(
            changed(JOB),
            an_alloc(JOB, node="ineligible"),
            "stop",
            id="outdated, and the node takes no new work",
        ),
        pytest.param(JOB, an_alloc(JOB, node="ready-1"), "stop", id="of another pool or datacenter"),
        pytest.param(changed(JOB), an_alloc(JOB), "update", id="outdated"),
        pytest.param(JOB, an_alloc(JOB), "ignore", id="as it should be"),
    ],
)
def test_what_becomes_of_one_that_lives(job: Job | None, alloc: Allocation, expected: str) -> None:
    assert fate(job, alloc) == [expected]


@pytest.mark.parametrize(
    ("job", "ended", "expected"),
    [
        pytest.param(JOB, "failed", "place", id="a system job's failure is made up for"),
        pytest.param(JOB, "complete", "place", id="a system job's end, too"),
        pytest.param(RUN_ONCE, "complete", "ignore", id="what ran once has run"),
        pytest.param(RUN_ONCE, "failed", "ignore", id="well or not"),
        pytest.param(changed(RUN_ONCE), "failed", "update", id="until the job changes"),
    ],
)
def test_what_becomes_of_a_node_whose_instance_has_ended(job: Job, ended: str, expected: str) -> None:
    old = an_alloc(RUN_ONCE if job.type == SYSBATCH else JOB, status=ended)
    found = sorted_out(job, [old])
    if expected == "place":
        (place,) = found.place
        assert (place.node_id, place.previous) == (old.node_id, old)
    else:
        assert found.place == []
        assert getattr(found, expected) == [old]


def test_each_target_gets_one_and_no_other_node_does() -> None:
    here = an_alloc(JOB, node="ready-1")
    found = sorted_out(JOB, [here, an_alloc(JOB, node="down")], targets=("ready-0", "ready-1"))
    assert [place.node_id for place in found.place] == ["ready-0"]


def test_of_several_that_ended_the_newest_is_followed() -> None:
    older = an_alloc(JOB, status="failed", alloc_id="older", create_index=5)
    newer = an_alloc(JOB, status="failed", alloc_id="newer", create_index=9)
    (place,) = sorted_out(JOB, [newer, older]).place
    assert place.previous is newer
