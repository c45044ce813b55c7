"""Blocked evaluations: who is tracked, who is released, and by what."""

from __future__ import annotations

from typing import Any

import pytest

from tests.state.builders import an_eval, key, node_id
from yurt.model.evaluation import EVAL_BLOCKED, TRIGGER_MAX_PLAN_ATTEMPTS, Evaluation
from yurt.model.job import SYSTEM
from yurt.server.blocked import UNBLOCKS_REMEMBERED_S, BlockedEvals

FAST, SLOW, NEW = "v1:fast", "v1:slow", "v1:new"


class _Room:
    """A tracker, and what it released."""

    def __init__(self) -> None:
        self._released: list[Evaluation] = []
        self.blocked = BlockedEvals(self._released.append)

    def block(self, eval_id: str, job_id: str = "web", **changes: Any) -> None:
        self.blocked.block(an_eval(eval_id, job_id, status=EVAL_BLOCKED, **changes))

    def released(self) -> list[str]:
        """What was released since the last look."""
        ids: list[str] = [one.id for one in self._released]
        self._released.clear()
        return ids

    def duplicates(self) -> list[str]:
        return [one.id for one in self.blocked.take_duplicates()]

    @property
    def total(self) -> int:
        return self.blocked.stats()["total_blocked"]


@pytest.mark.parametrize(
    ("eligibility", "is_released"),
    [
        pytest.param({FAST: True}, True, id="eligible"),
        pytest.param({FAST: False}, False, id="ineligible"),
        pytest.param({SLOW: False}, True, id="unknown"),
        pytest.param(None, True, id="nothing known"),
    ],
)
def test_capacity_of_a_class_releases_all_but_those_it_does_not_suit(
    eligibility: dict[str, bool] | None, is_released: bool
) -> None:
    room = _Room()
    room.block("e1", class_eligibility=eligibility)
    room.blocked.unblock_class(FAST, 10, now=0)
    assert room.released() == (["e1"] if is_released else [])
    assert room.total == (0 if is_released else 1)


def test_any_capacity_releases_those_that_escape_classes() -> None:
    room = _Room()
    room.block("e1", escaped_computed_class=True, class_eligibility={FAST: False})
    assert room.blocked.stats() == {"total_blocked": 1, "total_escaped": 1, "total_quota_limit": 0}
    room.blocked.unblock_class(FAST, 10, now=0)
    assert room.released() == ["e1"]


def test_a_job_has_one_tracked_evaluation_and_the_newer_view_wins() -> None:
    room = _Room()
    room.block("first", snapshot_index=5)
    room.block("newer", snapshot_index=8)
    assert room.duplicates() == ["first"]
    room.block("older view", snapshot_index=3, create_index=6)
    assert room.duplicates() == ["older view"]
    room.block("same view", create_index=8, escaped_computed_class=True)
    assert room.duplicates() == ["newer"]
    room.block("other job", "api")
    assert room.total == 2
    assert room.duplicates() == []


def test_an_evaluation_that_comes_back_is_no_duplicate_of_itself() -> None:
    room = _Room()
    room.block("e1", snapshot_index=5)
    room.block("e1", snapshot_index=9, escaped_computed_class=True)
    assert room.duplicates() == []
    assert room.blocked.stats() == {"total_blocked": 1, "total_escaped": 1, "total_quota_limit": 0}


@pytest.mark.parametrize(
    ("changes", "is_missed"),
    [
        pytest.param({"snapshot_index": 9}, True, id="looked before"),
        pytest.param({"snapshot_index": 10}, False, id="looked after"),
        pytest.param({"snapshot_index": 9, "class_eligibility": {FAST: False}}, False, id="ineligible"),
        pytest.param({"snapshot_index": 9, "class_eligibility": {FAST: True}}, True, id="eligible"),
        pytest.param(
            {"snapshot_index": 9, "class_eligibility": {FAST: False}, "escaped_computed_class": True},
            True,
            id="escaped",
        ),
        pytest.param({"snapshot_index": 9, "quota_limit_reached": "team"}, False, id="waits for a quota"),
    ],
)
def test_capacity_that_came_while_an_evaluation_looked_is_not_missed(
    changes: dict[str, Any], is_missed: bool
) -> None:
    room = _Room()
    room.blocked.unblock_class(FAST, 10, now=0)
    room.block("e1", **changes)
    assert room.released() == (["e1"] if is_missed else [])
    assert room.total == (0 if is_missed else 1)


def test_a_missed_unblock_still_displaces_the_older_evaluation() -> None:
    room = _Room()
    room.block("old", snapshot_index=12)
    room.blocked.unblock_class(NEW, 20, now=0)
    assert room.released() == ["old"]
    room.block("waits", snapshot_index=20)
    room.blocked.unblock_quota("team", 30, now=0)
    assert room.released() == ["waits"], "a quota releases those without one too"
    room.block("looked earlier", snapshot_index=25)
    assert room.released() == ["looked earlier"]


def test_old_unblocks_are_forgotten() -> None:
    room = _Room()
    room.blocked.unblock_class(FAST, 10, now=0)
    room.blocked.forget_old_unblocks(now=UNBLOCKS_REMEMBERED_S - 1)
    room.block("e1", snapshot_index=1)
    assert room.released() == ["e1"]
    room.blocked.forget_old_unblocks(now=UNBLOCKS_REMEMBERED_S)
    room.block("e2", snapshot_index=1)
    assert room.released() == []


@pytest.mark.parametrize(("limited_by", "is_released"), [("team", True), ("other", False), ("", True)])
def test_a_quota_releases_those_it_limits(limited_by: str, is_released: bool) -> None:
    room = _Room()
    room.block("e1", quota_limit_reached=limited_by)
    room.block("escaped", "api", escaped_computed_class=True)
    room.blocked.unblock_quota("team", 10, now=0)
    assert room.released() == (["e1"] if is_released else [])


def test_a_quota_that_grew_while_an_evaluation_looked_is_not_missed() -> None:
    room = _Room()
    room.blocked.unblock_quota("team", 10, now=0)
    room.block("before", snapshot_index=9, quota_limit_reached="team")
    room.block("after", "api", snapshot_index=10, quota_limit_reached="team")
    assert room.released() == ["before"]


def test_those_that_lost_too_many_races_are_released_by_time() -> None:
    room = _Room()
    room.block("lost", triggered_by=TRIGGER_MAX_PLAN_ATTEMPTS, escaped_computed_class=True)
    room.block("lost too", "api", triggered_by=TRIGGER_MAX_PLAN_ATTEMPTS)
    room.block("full", "db")
    room.blocked.unblock_failed()
    assert sorted(room.released()) == ["lost", "lost too"]
    assert room.total == 1


def test_system_jobs_wait_for_single_nodes() -> None:
    room = _Room()
    room.block("on 1", "everywhere", type=SYSTEM, node_id=node_id(1))
    room.block("on 2", "everywhere", type=SYSTEM, node_id=node_id(2))
    room.blocked.unblock_node(node_id(1))
    assert room.released() == ["on 1"]
    room.block("on 2 again", "everywhere", type=SYSTEM, node_id=node_id(2), snapshot_index=10)
    assert room.duplicates() == ["on 2"]
    room.blocked.unblock_node(node_id(2))
    room.blocked.unblock_node(node_id(2))
    assert room.released() == ["on 2 again"]
    assert room.total == 0


def test_system_jobs_wait_for_classes_too() -> None:
    room = _Room()
    room.block("on 1", "everywhere", type=SYSTEM, node_id=node_id(1), class_eligibility={FAST: False})
    room.block("on 2", "everywhere", type=SYSTEM, node_id=node_id(2), class_eligibility={FAST: True})
    room.blocked.unblock_class(FAST, 10, now=0)
    assert room.released() == ["on 2"]
    assert room.total == 1


def test_a_system_job_does_not_miss_capacity_either() -> None:
    room = _Room()
    room.blocked.unblock_class(FAST, 10, now=0)
    room.block("e1", "everywhere", type=SYSTEM, node_id=node_id(1), snapshot_index=3)
    assert room.released() == ["e1"]
    assert room.total == 0


def test_a_job_that_has_everything_is_forgotten() -> None:
    room = _Room()
    room.block("e1", "everywhere", type=SYSTEM, node_id=node_id(1))
    room.block("e2", "everywhere", type=SYSTEM, escaped_computed_class=True)
    room.block("e3")
    room.blocked.untrack(key("everywhere"))
    assert room.total == 1
    room.blocked.untrack(key("unknown"))
    room.blocked.clear()
    assert room.total == 0
    assert room.released() == []


def test_who_waits_for_a_quota_is_released_by_that_quota_alone() -> None:
    room = _Room()
    room.block("limited", quota_limit_reached="team")
    room.block("elsewhere", "api", quota_limit_reached="other")
    room.blocked.unblock_class(FAST, 10, now=0)
    assert room.released() == []
    assert room.blocked.stats()["total_quota_limit"] == 2
    room.blocked.unblock_quota("team", 11, now=0)
    assert room.released() == ["limited"]
