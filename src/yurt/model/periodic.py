"""When periodic jobs launch their children."""

from __future__ import annotations

from yurt.model.cron import BadCronSpec, BadTimeZone, next_after
from yurt.model.job import Job
from yurt.model.wire import Nanoseconds


def is_periodic_active(job: Job) -> bool:
    """Whether a job launches children at set times."""
    return job.periodic is not None and job.periodic.enabled and not job.stop and not job.is_parameterized


def next_launch(job: Job, after: Nanoseconds) -> Nanoseconds | None:
    """The first time later than `after` at which a periodic job launches; None if there is none."""
    periodic = job.periodic
    if periodic is None:
        return None
    specs = periodic.specs or ((periodic.spec,) if periodic.spec else ())
    times: list[Nanoseconds] = []
    for spec in specs:
        try:
            found = next_after(spec, after, periodic.time_zone)
        except BadTimeZone:
            found = next_after(spec, after, "UTC")
        except BadCronSpec:
            found = None  # stored before it was checked, or by a newer Yurt that knows more
        if found is not None:
            times.append(found)
    return min(times, default=None)
