"""Watching periodic jobs: they launch their children when it is time."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from yurt.log.errors import LogWriteFailed
from yurt.model.job import Job, JobKey
from yurt.model.periodic import is_periodic_active, next_launch
from yurt.model.times import SECOND_NS
from yurt.model.wire import Nanoseconds
from yurt.observe.logger import get_logger
from yurt.server.context import ServerContext
from yurt.server.periodic_children import (
    has_live_children,
    launch_entries,
    launched_last,
)
from yurt.server.watchers.pacing import Pacer
from yurt.state.state import State

RESCAN_INTERVAL_S = 60.0
# A launch that could not be written stays due: try again soon, but not at once.
WAIT_MIN_S = 0.1

logger = get_logger("periodic")


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """A launch that is due. With `is_skipped` an earlier child still runs, and the job wants no other."""

    job: Job
    at: Nanoseconds
    is_skipped: bool = False


async def watch_periodic_jobs(context: ServerContext) -> None:
    """Launch children of periodic jobs, on the leader, until cancelled."""
    # Skipped launches leave no trace in State; without this each look would find them again.
    passed: dict[JobKey, Nanoseconds] = {}
    async with Pacer(context, ("jobs",), batch_s=0.0) as pacer:
        while True:
            now = context.clock.now_ns()
            for launch in next_periodic_launches(context.state, passed, now=now):
                if launch.is_skipped:
                    passed[launch.job.key] = launch.at
                else:
                    await _launch(context, launch)
            passed = {key: at for key, at in passed.items() if key in context.state.jobs}
            due = next_periodic_time(context.state, passed)
            wait_s = RESCAN_INTERVAL_S
            if due is not None:
                wait_s = min(wait_s, max(WAIT_MIN_S, (due - context.clock.now_ns()) / SECOND_NS))
            await pacer.wait(wait_s)


def next_periodic_launches(
    state: State, passed: Mapping[JobKey, Nanoseconds], *, now: Nanoseconds
) -> list[Launch]:
    """The launches that are due, one for each job at most.

    `passed` holds times that were dealt with and that State does not know of. Of several launches
    that were missed, for want of a leader, only one is made up for, as of now.
    """
    launches: list[Launch] = []
    for job in state.jobs.periodic():
        if not is_periodic_active(job):
            continue
        due = _due(state, job, passed)
        if due is None or due > now:
            continue
        following = next_launch(job, due)
        at = now // SECOND_NS * SECOND_NS if following is not None and following <= now else due
        overlaps = job.periodic is not None and job.periodic.prohibit_overlap
        launches.append(Launch(job=job, at=at, is_skipped=overlaps and has_live_children(state, job)))
    return launches


def next_periodic_time(state: State, passed: Mapping[JobKey, Nanoseconds]) -> Nanoseconds | None:
    """When the next launch is due, if any is."""
    times = [
        due
        for job in state.jobs.periodic()
        if is_periodic_active(job) and (due := _due(state, job, passed)) is not None
    ]
    return min(times, default=None)


def _due(state: State, job: Job, passed: Mapping[JobKey, Nanoseconds]) -> Nanoseconds | None:
    return next_launch(job, max(launched_last(state, job), passed.get(job.key, 0)))


async def _launch(context: ServerContext, launch: Launch) -> None:
    job = launch.job
    entries = launch_entries(job, launch.at, now=context.clock.now_ns(), new_id=context.new_id)
    try:
        await context.committer.propose(*entries)
    except LogWriteFailed as error:
        logger.error("periodic_launch.not_written", job_id=job.id, error=str(error))
