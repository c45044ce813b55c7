"""The rehearsal goes the way of a real job, to its end."""

from __future__ import annotations

from yurt.clock import SystemClock
from yurt.rehearsal import rehearse


async def test_the_rehearsed_job_is_placed() -> None:
    state = await rehearse(SystemClock())

    (job,) = state.jobs
    (alloc,) = state.allocs
    assert alloc.job_id == job.id
    assert alloc.node_id == next(iter(state.nodes)).id
