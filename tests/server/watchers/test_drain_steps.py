"""Allocations leave draining nodes a few at a time, and all of them when time is up."""

from __future__ import annotations

from itertools import count

import pytest

from tests.state.builders import Cluster, a_group, a_job, a_node
from yurt.model.alloc import DesiredTransition
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM
from yurt.model.node import DrainStrategy, Node
from yurt.model.policies import MigrateStrategy
from yurt.model.times import MINUTE_NS, time_text
from yurt.server.watchers.drains import next_drain_deadline, next_drain_steps
from yurt.state import entries

MOVE = DesiredTransition(migrate=True)
STOP = DesiredTransition(migrate=True, migrate_disable_placement=True)


class Scene:
    """Two nodes, the first of which is drained."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        self.draining = self.cluster.add_node(a_node(1))
        self.other = self.cluster.add_node(a_node(2))

    def run(
        self, kind: str, job_id: str, *alloc_ids: str, max_parallel: int = 1, node: Node | None = None
    ) -> None:
        migrate = MigrateStrategy(max_parallel=max_parallel) if kind == SERVICE else None
        group = a_group(count=len(alloc_ids), migrate=migrate)
        job = self.cluster.add_job(a_job(job_id, group, type=kind))
        self.cluster.place(job, *alloc_ids, node=node or self.draining)
        for alloc_id in alloc_ids:
            self.cluster.report(alloc_id, healthy=True if kind in (SERVICE, SYSTEM) else None)

    def drain(self, deadline: int = 60 * MINUTE_NS, *, ignore_system_jobs: bool = False) -> None:
        now = self.cluster.now
        drain = DrainStrategy(
            deadline=deadline,
            ignore_system_jobs=ignore_system_jobs,
            force_deadline=time_text(now + deadline) if deadline > 0 else None,
        )
        self.cluster.apply(entries.SetNodeDrain(at=now, node_id=self.draining.id, drain=drain))

    def steps(self, *, later: int = 0) -> list[entries.Entry]:
        ids = count()
        now = self.cluster.now + later
        return next_drain_steps(self.cluster.state, now=now, new_id=lambda: f"new-{next(ids)}")

    def marked(self, *, later: int = 0) -> dict[str, DesiredTransition]:
        """Apply all steps; gives what they mark."""
        marks: dict[str, DesiredTransition] = {}
        for step in self.steps(later=later):
            if isinstance(step, entries.SetDesiredTransitions):
                marks.update((str(alloc_id), flags) for alloc_id, flags in step.transitions.items())
            self.cluster.apply(step)
        return marks

    @property
    def is_over(self) -> bool:
        return self.cluster.state.nodes[self.draining.id].drain_strategy is None


@pytest.mark.parametrize(
    ("max_parallel", "leaving"),
    [pytest.param(1, 1, id="one at a time"), pytest.param(2, 2, id="two"), pytest.param(9, 3, id="all")],
)
def test_so_many_leave_that_enough_stay_healthy(max_parallel: int, leaving: int) -> None:
    scene = Scene()
    scene.run(SERVICE, "web", "a", "b", "c", max_parallel=max_parallel)
    scene.drain()
    assert len(scene.marked()) == leaving
    assert not scene.is_over


def test_the_next_leaves_when_a_replacement_is_healthy() -> None:
    scene = Scene()
    scene.run(SERVICE, "web", "a", "b")
    scene.drain()
    assert scene.marked() == {"a": MOVE}
    assert scene.marked() == {}
    scene.cluster.stop("a")
    scene.cluster.report("a", "complete")
    job = scene.cluster.state.jobs.rows()[0]
    scene.cluster.place(job, "a2", node=scene.other)
    assert scene.marked() == {}, "its replacement may yet fail"
    scene.cluster.report("a2", healthy=True)
    assert scene.marked() == {"b": MOVE}


def test_a_drain_ends_when_nothing_is_left() -> None:
    scene = Scene()
    scene.run(SERVICE, "web", "a")
    scene.drain()
    scene.marked()
    scene.cluster.stop("a")
    scene.cluster.report("a", "complete")
    scene.marked()
    node = scene.cluster.state.nodes[scene.draining.id]
    assert scene.is_over
    assert node.scheduling_eligibility == "ineligible"
    assert node.last_drain is not None
    assert node.last_drain.status == "complete"
    assert scene.steps() == []


@pytest.mark.parametrize("kind", [BATCH, SYSBATCH])
def test_work_that_ends_by_itself_may_end(kind: str) -> None:
    scene = Scene()
    scene.run(kind, "work", "a")
    scene.drain()
    assert scene.marked() == {}
    assert not scene.is_over
    scene.cluster.report("a", "complete")
    scene.marked()
    assert scene.is_over


def test_system_jobs_leave_last() -> None:
    scene = Scene()
    scene.run(SYSTEM, "sys", "s")
    scene.run(BATCH, "work", "a")
    scene.drain()
    assert scene.marked() == {}
    scene.cluster.report("a", "complete")
    assert scene.marked() == {"s": MOVE}
    assert scene.is_over


def test_system_jobs_may_be_left_alone() -> None:
    scene = Scene()
    scene.run(SYSTEM, "sys", "s")
    scene.drain(ignore_system_jobs=True)
    assert scene.marked() == {}
    assert scene.is_over


@pytest.mark.parametrize(
    ("deadline", "later"),
    [pytest.param(-1, 0, id="at once"), pytest.param(MINUTE_NS, 2 * MINUTE_NS, id="time is up")],
)
def test_everything_leaves_when_time_is_up(deadline: int, later: int) -> None:
    scene = Scene()
    scene.run(SERVICE, "web", "a", "b")
    scene.run(BATCH, "work", "c")
    scene.run(SYSTEM, "sys", "s")
    scene.drain(deadline)
    if later:
        assert next_drain_deadline(scene.cluster.state) is not None
    assert scene.marked(later=later) == {"a": MOVE, "b": MOVE, "c": STOP, "s": MOVE}
    assert scene.is_over
