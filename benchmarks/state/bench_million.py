"""A million allocations on 5,000 nodes: memory, snapshot, cold start."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks.state.world import fill, register_nodes
from yurt.log.snapshot import newest_snapshot, read_snapshot, write_snapshot
from yurt.log.snapshot_format import SnapshotHeader
from yurt.state.snapshot import dump, load
from yurt.state.state import State

NODES = 5_000
ALLOCS = 1_000_000
PER_JOB = 1_000

TARGETS = {
    "bytes_per_alloc": "<= 1024",
    "snapshot_worst_stall_ms": "<= 50",
    "cold_start_s": "<= 20",
}


def run() -> dict[str, float]:
    """Fill a State, write it out while a loop runs, read it back."""
    state, rng = State(), Random(1)
    register_nodes(state, NODES, rng)
    before = _resident_bytes()
    began = time.perf_counter()
    fill(state, jobs=ALLOCS // PER_JOB, per_job=PER_JOB, rng=rng)
    filled_s = time.perf_counter() - began
    gc.collect()
    per_alloc = (_resident_bytes() - before) / ALLOCS
    with tempfile.TemporaryDirectory(prefix="yurt-bench-") as work:
        directory = Path(work)
        snapshot_s, stall_ms = asyncio.run(_snapshot(state, directory))
        del state
        gc.collect()
        began = time.perf_counter()
        found = newest_snapshot(directory)
        assert found.newest is not None
        restored = load(read_snapshot(found.newest.path)[1])
        cold_s = time.perf_counter() - began
        assert len(restored.allocs) == ALLOCS
    return {
        "apply_per_s": ALLOCS / filled_s,
        "bytes_per_alloc": per_alloc,
        "snapshot_s": snapshot_s,
        "snapshot_worst_stall_ms": stall_ms,
        "cold_start_s": cold_s,
    }


async def _snapshot(state: State, directory: Path) -> tuple[float, float]:
    """Write a snapshot in a thread, and watch how long the loop is ever held up."""
    worst = 0.0
    done = asyncio.Event()

    async def watch() -> None:
        nonlocal worst
        last = time.perf_counter()
        while not done.is_set():
            await asyncio.sleep(0)
            now = time.perf_counter()
            worst = max(worst, now - last)
            last = now

    watching = asyncio.ensure_future(watch())
    await asyncio.sleep(0.1)
    began = time.perf_counter()
    chunks = dump(state)
    header = SnapshotHeader(index=state.index, created_at_ns=time.time_ns(), kind="yurt-state")
    await asyncio.to_thread(write_snapshot, directory, header, chunks)
    took = time.perf_counter() - began
    done.set()
    await watching
    return took, worst * 1e3


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
