"""A server on a disk: what was acknowledged is there after a restart, and archives replace it whole."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path
from random import Random

import msgspec
import pytest

from tests.server.logs import FailingLog
from tests.server.running import SETTINGS, ScriptedNode, placed, register, running, until
from tests.state.builders import a_group, a_job, a_node, key
from tests.state.comparing import assert_counts_agree, assert_same_state
from yurt.clock import SystemClock
from yurt.log import LogWriteFailed, snapshot_indexes
from yurt.model.client_protocol import Heartbeat
from yurt.model.job import BATCH
from yurt.server.archive import ArchiveRefused
from yurt.server.server import Server
from yurt.state.snapshot import dump, load
from yurt.state.state import State

# Servers that draw from the same seed would make the same ids.
_seeds = count(1)


async def _open(data_dir: Path, **changes: int) -> Server:
    settings = msgspec.structs.replace(SETTINGS, data_dir=data_dir, **changes)
    return await Server.open(settings, SystemClock(), Random(next(_seeds)))


def _copy(state: State) -> State:
    return load(dump(state))


async def _work(server: Server, job_id: str) -> None:
    """Run one batch job to its end."""
    node = ScriptedNode(server)
    await node.join()
    await register(server, a_job(job_id, a_group(count=2), type=BATCH))
    await until(server, lambda state: len(placed(state, job_id)) == 2, patience_s=20)
    for alloc_id in placed(server.state, job_id):
        await node.report(alloc_id, "complete")
    await until(server, lambda state: not state.evals.has_open(key(job_id)), patience_s=20)
    assert server.state.jobs[key(job_id)].status == "dead"


async def test_a_restart_finds_the_same_state(tmp_path: Path) -> None:
    server = await _open(tmp_path)
    async with running(server):
        await _work(server, "web")
    before = server.state
    again = await _open(tmp_path)
    assert_same_state(again.state, before)
    async with running(again):
        await _work(again, "other")
        assert_counts_agree(again.state)


async def test_a_restart_from_snapshots_and_what_came_after(tmp_path: Path) -> None:
    server = await _open(tmp_path, trailing_entries=0)
    assert server.snapshots is not None
    async with running(server):
        for job_id in ("first", "second"):
            await _work(server, job_id)
            await server.snapshots.write()
        assert server.log.first_index > 1
        await _work(server, "third")
    again = await _open(tmp_path)
    assert_same_state(again.state, server.state)
    await again.close()
    newest = tmp_path / "snapshots" / f"{snapshot_indexes(tmp_path / 'snapshots')[0]:020d}.snapshot"
    newest.write_bytes(b"damaged")
    recovered = await _open(tmp_path)
    assert_same_state(recovered.state, server.state)
    await recovered.close()


async def test_evaluations_that_were_pending_are_taken_up(tmp_path: Path) -> None:
    server = await _open(tmp_path)
    await ScriptedNode(server).join()
    await register(server, a_job())
    await server.close()
    again = await _open(tmp_path)
    assert placed(again.state) == []
    async with running(again):
        await until(again, placed, patience_s=20)


async def test_an_archive_replaces_all_state_and_wakes_who_waits(tmp_path: Path) -> None:
    archive = tmp_path / "saved.snap"
    server = await _open(tmp_path / "data")
    async with running(server):
        await _work(server, "saved")
        await server.save_archive(archive)
        saved = _copy(server.state)
        await _work(server, "later")
        index = server.state.index
        woken = asyncio.Event()
        cancel = server.state.watches.add([("jobs", key("later"))], woken.set)
        await server.restore_archive(archive)
        assert woken.is_set()
        cancel()
        assert key("later") not in server.state.jobs
        assert server.state.index > index, "indexes never run backwards"
        assert server.log.last_index == server.state.index
        saved.index = server.state.index
        assert_same_state(server.state, saved)
        await _work(server, "afterwards")
    again = await _open(tmp_path / "data")
    assert_same_state(again.state, server.state)
    assert key("afterwards") in again.state.jobs
    await again.close()


async def test_an_archive_fits_another_cluster_with_more_behind_it(tmp_path: Path) -> None:
    first = await _open(tmp_path / "first")
    async with running(first):
        await _work(first, "saved")
        await _work(first, "saved too")
        await first.save_archive(tmp_path / "saved.snap")
    other = await _open(tmp_path / "other")
    async with running(other):
        await other.restore_archive(tmp_path / "saved.snap")
        assert other.state.index == first.state.index + 1
        await _work(other, "afterwards")
    again = await _open(tmp_path / "other")
    assert_same_state(again.state, other.state)
    await again.close()


async def test_what_waited_in_the_archive_is_taken_up(tmp_path: Path) -> None:
    server = await _open(tmp_path / "data")
    await register(server, a_job())
    await server.save_archive(tmp_path / "saved.snap")
    async with running(server):
        await server.jobs.deregister(key(), purge=True)
        await ScriptedNode(server).join()
        await server.restore_archive(tmp_path / "saved.snap")
        await until(server, lambda state: state.evals.blocked_of_job(key()), patience_s=20)
        stranger = await server.nodes.heartbeat(Heartbeat(node_id=a_node().id, secret_id=a_node().secret_id))
        assert not stranger.is_known, "its node registers again"
        await ScriptedNode(server).join()
        await until(server, placed, patience_s=20)


async def test_a_damaged_archive_changes_nothing(tmp_path: Path) -> None:
    archive = tmp_path / "saved.snap"
    server = await _open(tmp_path / "data")
    async with running(server):
        await _work(server, "web")
        await server.save_archive(archive)
        archive.write_bytes(archive.read_bytes()[:-200])
        before = _copy(server.state)
        with pytest.raises(ArchiveRefused):
            await server.restore_archive(archive)
        assert_same_state(server.state, before)
        await _work(server, "other")


async def test_a_log_that_cannot_be_reset_changes_nothing(tmp_path: Path) -> None:
    opened = await _open(tmp_path / "data")
    assert opened.snapshots is not None
    log = FailingLog(opened.log)
    server = Server(opened.settings, log, opened.state, SystemClock(), opened.context.rng)
    server.snapshots = opened.snapshots
    async with running(server):
        await _work(server, "web")
        await server.save_archive(tmp_path / "saved.snap")
        await _work(server, "later")
        before = _copy(server.state)
        log.fails = True
        with pytest.raises(LogWriteFailed):
            await server.restore_archive(tmp_path / "saved.snap")
        log.fails = False
        assert_same_state(server.state, before)
        assert snapshot_indexes(tmp_path / "data" / "snapshots") == ()
        await _work(server, "afterwards")
    again = await _open(tmp_path / "data")
    assert_same_state(again.state, server.state)
    await again.close()


async def test_dying_between_snapshot_and_log_ends_with_the_archives_state(tmp_path: Path) -> None:
    server = await _open(tmp_path / "data")
    assert server.snapshots is not None
    async with running(server):
        await _work(server, "web")
        await server.save_archive(tmp_path / "saved.snap")
        restored = _copy(server.state)
        await _work(server, "later")
        restored.index = server.log.last_index + 1
        await server.snapshots.save(restored)
    again = await _open(tmp_path / "data")
    assert_same_state(again.state, restored)
    async with running(again):
        await _work(again, "afterwards")
