"""When snapshots are written, and what is kept of the log behind them."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.server.logs import FailingLog
from tests.state.builders import a_job
from tests.state.comparing import assert_same_state
from yurt.log import read_snapshot, snapshot_indexes
from yurt.server.committer import Committer
from yurt.server.context import ServerContext
from yurt.server.snapshots import STATE_KIND, KeptSnapshots, Snapshotter
from yurt.state.entries import RegisterJob
from yurt.state.snapshot import load
from yurt.state.state import State


class _StoppedClock:
    """A clock whose sleepers wake when the test says so."""

    def __init__(self) -> None:
        self.asked_s: list[float] = []
        self._turn = asyncio.Semaphore(0)
        self._slept = asyncio.Event()

    def now_ns(self) -> int:
        return 42

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.asked_s.append(seconds)
        self._slept.set()
        await self._turn.acquire()

    async def pass_interval(self) -> None:
        """End one sleep, and wait until the sleeper sleeps again."""
        await self._slept.wait()
        self._slept.clear()
        self._turn.release()
        await self._slept.wait()


class _Case:
    def __init__(self, directory: Path, *, threshold: int = 5, trailing: int = 0) -> None:
        self.directory = directory
        self.log = FailingLog()
        self.clock = _StoppedClock()
        self.committer = Committer(State(), self.log)
        context = ServerContext(self.committer, self.clock, Random(1), region="global")
        self.snapshotter = Snapshotter(
            context, self.log, directory, interval_s=120, threshold=threshold, trailing=trailing
        )

    async def commit(self, entries: int) -> None:
        for _ in range(entries):
            await self.committer.propose(RegisterJob(at=1, job=a_job(f"j{self.committer.state.index}")))

    def indexes(self) -> tuple[int, ...]:
        return snapshot_indexes(self.directory)


async def test_a_snapshot_is_written_when_enough_happened_in_an_interval(tmp_path: Path) -> None:
    case = _Case(tmp_path, threshold=5)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(case.snapshotter.run())
        await case.commit(4)
        await case.clock.pass_interval()
        assert case.indexes() == ()
        await case.commit(1)
        await case.clock.pass_interval()
        assert case.indexes() == (5,)
        await case.commit(4)
        await case.clock.pass_interval()
        assert case.indexes() == (5,)
        await case.commit(1)
        await case.clock.pass_interval()
        assert case.indexes() == (10, 5)
        assert set(case.clock.asked_s) == {120}
        running.cancel()


async def test_what_is_on_disk_already_counts(tmp_path: Path) -> None:
    case = _Case(tmp_path, threshold=5)
    case.snapshotter.start_from(KeptSnapshots(newest=3))
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(case.snapshotter.run())
        await case.commit(7)
        await case.clock.pass_interval()
        assert case.indexes() == ()
        await case.commit(1)
        await case.clock.pass_interval()
        assert case.indexes() == (8,)
        running.cancel()


async def test_a_snapshot_holds_the_state(tmp_path: Path) -> None:
    case = _Case(tmp_path)
    await case.commit(3)
    header, chunks = read_snapshot(await case.snapshotter.write())
    assert (header.index, header.created_at_ns, header.kind) == (3, 42, STATE_KIND)
    assert_same_state(case.committer.state, load(chunks))


async def test_the_log_is_compacted_only_behind_the_older_of_two_snapshots(tmp_path: Path) -> None:
    case = _Case(tmp_path)
    await case.commit(5)
    await case.snapshotter.write()
    assert case.log.first_index == 1, "there is but one snapshot"
    await case.commit(5)
    await case.snapshotter.write()
    assert case.log.first_index == 6
    await case.commit(5)
    await case.snapshotter.write()
    assert case.log.first_index == 11
    assert case.indexes() == (15, 10)


async def test_a_second_snapshot_of_the_same_index_is_no_second_snapshot(tmp_path: Path) -> None:
    case = _Case(tmp_path)
    await case.commit(5)
    for _ in range(2):
        await case.snapshotter.write()
    assert case.indexes() == (5,)
    assert case.log.first_index == 1


async def test_entries_that_trail_a_snapshot_are_kept(tmp_path: Path) -> None:
    case = _Case(tmp_path, trailing=7)
    for _ in range(3):
        await case.commit(5)
        await case.snapshotter.write()
    assert case.indexes() == (15, 10)
    assert case.log.first_index == 15 - 7 + 1


async def test_both_snapshots_of_an_earlier_run_are_known(tmp_path: Path) -> None:
    case = _Case(tmp_path)
    await case.commit(10)
    case.snapshotter.start_from(KeptSnapshots(newest=10, older=4))
    await case.snapshotter.write()
    assert case.log.first_index == 5


def _refuse(*_arguments: object, **_more: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("fault", ["disk", "log"])
async def test_a_failure_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    case = _Case(tmp_path, threshold=1)
    repair: Callable[[], None]
    await case.commit(1)
    await case.snapshotter.write()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(case.snapshotter.run())
        await case.commit(1)
        if fault == "disk":
            monkeypatch.setattr("os.fsync", _refuse)
            repair = monkeypatch.undo
        else:
            case.log.fails = True
            repair = lambda: setattr(case.log, "fails", False)  # noqa: E731 - reads best in its place
        await case.clock.pass_interval()
        assert case.log.first_index == 1
        repair()
        await case.commit(1)
        await case.clock.pass_interval()
        assert case.indexes()[0] == 3
        assert case.log.first_index > 1
        running.cancel()
