"""Periodic jobs: launched out of turn."""

from __future__ import annotations

import msgspec

from yurt.model.job import JobKey
from yurt.model.periodic import is_periodic_active
from yurt.model.times import SECOND_NS
from yurt.server.commands.jobs import JobNotFound, JobRefused
from yurt.server.context import ServerContext
from yurt.server.periodic_children import launch_entries
from yurt.state.entries import RegisterJob


class Launched(msgspec.Struct, frozen=True, kw_only=True):
    """A child is on its way."""

    eval_id: str
    index: int


class PeriodicCommands:
    """What can be asked of periodic jobs."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def force(self, key: JobKey) -> Launched:
        """Launch a child now, whatever the job's times say. Raises JobNotFound, JobRefused."""
        context = self._context
        job = context.state.jobs.get(key)
        if job is None:
            raise JobNotFound
        if not job.is_periodic:
            raise JobRefused("can't force launch non-periodic job")
        if not is_periodic_active(job):
            raise JobRefused(
                f'force launch for job "{key.id}" failed: '
                f'can\'t force run non-tracked job "{key.id}" ({key.namespace})'
            )
        now = context.clock.now_ns()
        launch = now // SECOND_NS * SECOND_NS
        entries = launch_entries(job, launch, now=now, new_id=context.new_id)
        committed = await context.committer.propose(*entries)
        child = entries[0]
        assert isinstance(child, RegisterJob)
        # The child comes first; its launch is noted after it.
        return Launched(eval_id=child.evals[0].id, index=committed.index - len(entries) + 1)
