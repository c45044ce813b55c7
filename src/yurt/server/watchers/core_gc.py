"""Collecting garbage: what nobody needs any more is forgotten from time to time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from yurt.log.errors import LogWriteFailed
from yurt.observe.logger import get_logger
from yurt.scheduler.kinds.core import (
    AT_ONCE,
    Thresholds,
    collect_deployments,
    collect_evals_of,
    collect_jobs,
    collect_nodes,
    deletions,
    jobs_with_old_evals,
)
from yurt.scheduler.kinds.core_acl import collect_tokens
from yurt.server.context import ServerContext
from yurt.state.entries import Entry

JOBS_PER_LOOK = 100

logger = get_logger("gc")


async def watch_garbage(context: ServerContext, thresholds: Thresholds, interval_s: float) -> None:
    """Collect garbage each `interval_s`, on the leader, until cancelled."""
    while True:
        await context.clock.sleep(interval_s)
        try:
            await collect_garbage(context, thresholds)
        except LogWriteFailed as error:
            logger.error("garbage.not_collected", error=str(error))


async def collect_garbage(context: ServerContext, thresholds: Thresholds = AT_ONCE) -> None:
    """Forget everything that is old enough, in the order in which things let go of each other.

    Without thresholds, everything that can go. Raises what the log raises.
    """
    now = context.clock.now_ns()
    for unit in collect_jobs(context.state, now=now, thresholds=thresholds):
        await context.committer.propose(*unit)
    keys = jobs_with_old_evals(context.state, now=now, thresholds=thresholds)
    for start in range(0, len(keys), JOBS_PER_LOOK):
        # Others get their turn between two looks.
        await asyncio.sleep(0)
        part = keys[start : start + JOBS_PER_LOOK]
        found = [collect_evals_of(context.state, key, now=now, thresholds=thresholds) for key in part]
        await _propose_each(context, deletions(found, now=now))
    for collect in (collect_deployments, collect_nodes):
        await _propose_each(context, collect(context.state, now=now, thresholds=thresholds))
    await _propose_each(context, collect_tokens(context.state, now=now, kept_for=thresholds.acl_tokens))


async def _propose_each(context: ServerContext, entries: Iterable[Entry]) -> None:
    for entry in entries:
        await context.committer.propose(entry)
