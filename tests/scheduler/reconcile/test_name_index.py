"""Instance numbers are given out lowest first, and released highest first."""

from __future__ import annotations

import pytest

from tests.scheduler.reconcile.builders import a_job, an_alloc
from yurt.model.alloc import Allocation
from yurt.scheduler.reconcile.name_index import NameIndex

JOB = a_job()


def named(*indexes: int) -> list[Allocation]:
    return [an_alloc(JOB, index, alloc_id=f"{n}") for n, index in enumerate(indexes)]


@pytest.mark.parametrize(
    ("count", "used", "asked", "given"),
    [
        pytest.param(3, [], 3, [0, 1, 2], id="all free"),
        pytest.param(3, [0, 1, 2], 3, [0, 1, 2], id="all taken: given out again"),
        pytest.param(4, [0, 2], 1, [1], id="lowest gap"),
        pytest.param(2, [0], 3, [1, 0, 1], id="more than the count"),
    ],
)
def test_next(count: int, used: list[int], asked: int, given: list[int]) -> None:
    assert NameIndex(count, named(*used)).next(asked) == given


@pytest.mark.parametrize(("asked", "given"), [(1, {2}), (2, {1, 2}), (13, {0, 1, 2})])
def test_highest(asked: int, given: set[int]) -> None:
    assert NameIndex(3, named(0, 1, 2)).highest(asked) == given


@pytest.mark.parametrize(
    ("n", "existing", "destructive", "given"),
    [
        pytest.param(1, [], [0, 1, 2], [0], id="the first that is replaced"),
        pytest.param(2, [0], [0, 1, 2], [1, 2], id="not those of other canaries"),
        pytest.param(4, [], [0, 1, 2], [0, 1, 2, 3], id="past the count"),
        pytest.param(2, [], [7], [0, 1], id="numbers past the count are not reused"),
    ],
)
def test_next_canaries(n: int, existing: list[int], destructive: list[int], given: list[int]) -> None:
    names = NameIndex(3, named(*destructive))
    assert names.next_canaries(n, named(*existing), named(*destructive)) == given


def test_a_number_used_twice_is_given_up_once() -> None:
    names = NameIndex(4, named(0, 0, 1, 2))
    assert names.without_duplicate(1) == 1
    assert names.without_duplicate(0) == 3
    assert names.without_duplicate(0) == 0
