"""Whatever is applied: replay, snapshots and recounts agree, and indexes only grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.state.builders import Cluster
from tests.state.comparing import assert_counts_agree, assert_same_state, described, replayed, tables
from tests.state.entry_maker import EntryMaker, RandomChoices
from yurt.model.variable import Variable
from yurt.state.entries import Entry
from yurt.state.snapshot import dump, load
from yurt.state.state import State

_T = TypeVar("_T")

STEPS_MAX = 30


class _Drawn:
    """Choices that Hypothesis makes, and can make smaller."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def pick(self, options: Sequence[_T]) -> _T:
        return options[self._data.draw(st.integers(0, len(options) - 1))]

    def some(self, options: Sequence[_T]) -> list[_T]:
        chosen = self._data.draw(st.integers(0, 2 ** min(len(options), 12) - 1))
        return [option for place, option in enumerate(options) if chosen >> place & 1]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_replay_snapshots_and_recounts_agree_with_what_was_applied(data: st.DataObject) -> None:
    cluster = Cluster()
    maker = EntryMaker(cluster, RandomChoices(data.draw(st.integers(0, 20), label="seed of the beginning")))
    for make in (maker.register_node, maker.register_job) * 3 + (maker.commit_plan, maker.report_allocs) * 2:
        cluster.apply(make())
    begun = len(cluster.encoded)
    maker.choices = _Drawn(data)
    steps = data.draw(st.integers(1, STEPS_MAX), label="steps")
    snapshot_at = data.draw(st.integers(0, steps), label="snapshot at")
    chunks = list(dump(cluster.state))
    for step in range(1, steps + 1):
        before = _rows(cluster.state)
        cluster.apply(maker.entry())
        _assert_grown(before, _rows(cluster.state), cluster.state.index)
        if step == snapshot_at:
            chunks = list(dump(cluster.state))
    assert_counts_agree(cluster.state)
    assert_same_state(cluster.state, replayed(cluster.encoded))
    assert_same_state(cluster.state, load(dump(cluster.state)))
    assert_same_state(cluster.state, replayed(cluster.encoded[begun + snapshot_at :], load(chunks)))


@pytest.mark.parametrize("seed", range(8))
def test_long_histories_agree_too(seed: int) -> None:
    cluster = Cluster()
    maker = EntryMaker(cluster, RandomChoices(seed))
    applied: list[Entry] = []
    for step in range(1000):
        applied.append(maker.entry())
        cluster.apply(applied[-1])
        if step == 100:
            chunks = list(dump(cluster.state))
    assert_counts_agree(cluster.state)
    assert_same_state(cluster.state, replayed(cluster.encoded))
    assert_same_state(cluster.state, load(dump(cluster.state)))
    restored = replayed(cluster.encoded[101:], load(chunks))
    assert_same_state(cluster.state, restored)
    assert described(cluster.state) == described(restored)
    assert {type(entry) for entry in applied} == set(get_args(Entry)), "every kind of entry was applied"


def _rows(state: State) -> dict[str, tuple[int, dict[Any, Any]]]:
    return {table.name: (table.index, dict(table._rows)) for table in tables(state)}


def _assert_grown(
    before: dict[str, tuple[int, dict[Any, Any]]], after: dict[str, tuple[int, dict[Any, Any]]], index: int
) -> None:
    """No index ran backwards; whatever changed says so, and so does its table."""
    for name, (table_index, rows) in after.items():
        old_index, old_rows = before[name]
        assert table_index in (old_index, index), name
        for key, row in rows.items():
            old = old_rows.get(key)
            if old is None:
                assert getattr(row, "create_index", index) == index, (name, key)
            if old is not row and old != row and not _is_rekeyed(old, row):
                # The source of a job has no index of its own but that of the job's version.
                changed_at = row.job_modify_index if name == "job-submissions" else row.modify_index
                assert changed_at == index, (name, key)
                assert table_index == index, name
        if old_rows.keys() - rows.keys():
            assert table_index == index, name


def _is_rekeyed(old: object, row: object) -> bool:
    """Whether a variable was only encrypted anew, which nobody is to see."""
    return (
        isinstance(old, Variable)
        and isinstance(row, Variable)
        and old == replace(row, data=old.data, key_id=old.key_id)
    )
