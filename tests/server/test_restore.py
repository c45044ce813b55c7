"""Restoring State from what is on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.logs import FailingLog
from tests.state.builders import Cluster, a_job, a_node
from tests.state.comparing import assert_same_state
from tests.state.entry_maker import EntryMaker, RandomChoices
from yurt.log import SqliteLog, write_snapshot
from yurt.log.snapshot_format import SnapshotHeader
from yurt.server.restore import RestoreFailed, restore
from yurt.server.snapshots import STATE_KIND, KeptSnapshots
from yurt.state.entries import RegisterNode, encode_entry
from yurt.state.snapshot import dump
from yurt.state.state import State


def _snapshot(directory: Path, state: State) -> Path:
    header = SnapshotHeader(index=state.index, created_at_ns=1, kind=STATE_KIND)
    return write_snapshot(directory, header, dump(state))


async def _append(log: FailingLog, entries: list[bytes]) -> None:
    await log.append(entries, lambda _index: None)


def _some_history(entries: int) -> Cluster:
    cluster = Cluster()
    maker = EntryMaker(cluster, RandomChoices(7))
    for _ in range(entries):
        cluster.apply(maker.entry())
    return cluster


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[FailingLog]:
    log = FailingLog(await SqliteLog.open(tmp_path / "log"))
    yield log
    await log.close()


async def test_nothing_on_disk_is_an_empty_state(tmp_path: Path, log: FailingLog) -> None:
    state, kept = await restore(log, tmp_path / "snapshots")
    assert_same_state(state, State())
    assert kept == KeptSnapshots()


async def test_the_log_alone(tmp_path: Path, log: FailingLog) -> None:
    cluster = _some_history(60)
    await _append(log, cluster.encoded)
    state, kept = await restore(log, tmp_path / "snapshots")
    assert_same_state(state, cluster.state)
    assert kept == KeptSnapshots()
    assert state.take_news().evals == [], "what was done long ago is no news"


async def test_snapshots_and_the_rest_of_the_log(tmp_path: Path, log: FailingLog) -> None:
    cluster = _some_history(20)
    _snapshot(tmp_path, cluster.state)
    maker = EntryMaker(cluster, RandomChoices(8))
    for _ in range(20):
        cluster.apply(maker.entry())
    _snapshot(tmp_path, cluster.state)
    for _ in range(20):
        cluster.apply(maker.entry())
    await _append(log, cluster.encoded)
    await log.compact(40)
    state, kept = await restore(log, tmp_path)
    assert_same_state(state, cluster.state)
    assert kept == KeptSnapshots(newest=40, older=20)


async def test_a_broken_snapshot_falls_back_on_the_older_one(tmp_path: Path, log: FailingLog) -> None:
    cluster = _some_history(20)
    _snapshot(tmp_path, cluster.state)
    cluster.add_job(a_job("late"))
    broken = _snapshot(tmp_path, cluster.state)
    broken.write_bytes(broken.read_bytes()[:-1])
    await _append(log, cluster.encoded)
    await log.compact(20)
    state, kept = await restore(log, tmp_path)
    assert_same_state(state, cluster.state)
    assert kept == KeptSnapshots(newest=20)


@pytest.mark.parametrize("snapshot_at", [0, 3])
async def test_missing_entries_are_an_error(tmp_path: Path, log: FailingLog, snapshot_at: int) -> None:
    cluster = Cluster()
    for number in range(6):
        cluster.add_node(a_node(number))
        if cluster.state.index == snapshot_at:
            _snapshot(tmp_path, cluster.state)
    await _append(log, cluster.encoded)
    await log.compact(4)
    with pytest.raises(RestoreFailed, match=rf"begins at index 5 .* ends at {snapshot_at}: .*restore"):
        await restore(log, tmp_path)


async def test_a_reset_log_without_its_snapshot_is_an_error(tmp_path: Path, log: FailingLog) -> None:
    await log.reset(10)
    with pytest.raises(RestoreFailed, match="begins at index 10"):
        await restore(log, tmp_path)


async def test_a_log_behind_the_snapshot_is_reset(tmp_path: Path, log: FailingLog) -> None:
    cluster = _some_history(10)
    await _append(log, cluster.encoded[:4])
    _snapshot(tmp_path, cluster.state)
    state, _ = await restore(log, tmp_path)
    assert_same_state(state, cluster.state)
    assert (log.first_index, log.last_index) == (11, 10)
    await _append(log, [encode_entry(RegisterNode(at=1, node=a_node()))])
    assert log.last_index == 11
    again, _ = await restore(log, tmp_path)
    assert again.index == 11


@pytest.mark.parametrize("entry", [b"\xc1", b"\x81\xa1_\xa7Unknown"])
async def test_an_unreadable_entry_is_named(tmp_path: Path, log: FailingLog, entry: bytes) -> None:
    await _append(log, [encode_entry(RegisterNode(at=1, node=a_node())), entry])
    with pytest.raises(RestoreFailed, match=r"entry 2 of the log cannot be read .* newer Yurt"):
        await restore(log, tmp_path)
