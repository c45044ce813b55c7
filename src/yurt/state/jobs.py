"""The table of jobs: current jobs, their versions, their summaries."""

from __future__ import annotations

from copy import copy

from yurt.model.job import SYSTEM, Job, JobKey
from yurt.model.job_summary import JobSummary
from yurt.model.plan import JobRef
from yurt.model.wire import JobID
from yurt.state.grouped import Grouped
from yurt.state.table import Table
from yurt.state.watches import Watches


class Jobs(Table[JobKey, Job]):
    """Current jobs by key; `versions` holds what was registered before, newest first."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("jobs", watches)
        self.versions: dict[JobKey, tuple[Job, ...]] = {}
        self.children: Grouped[JobKey, JobID] = Grouped()
        self._periodic: dict[JobKey, None] = {}
        self._system: dict[JobKey, None] = {}

    def periodic(self) -> list[Job]:
        """The jobs that launch children at set times."""
        return [self._rows[key] for key in self._periodic]

    def system(self) -> list[Job]:
        """The jobs that run on every node that suits them."""
        return [self._rows[key] for key in self._system]

    def put(self, key: JobKey, row: Job, index: int, *, versions_kept: int | None = None) -> None:
        """Set the current form of a job; its version replaces the stored one of the same number.

        With `versions_kept`, no more than so many stay, tagged ones aside; without, all that there are.
        """
        kept = [old for old in self.versions.get(key, ()) if old.version != row.version]
        if kept:
            versions = sorted([row, *kept], key=lambda job: -job.version)
            self.versions[key] = _pruned(versions, most=versions_kept or len(versions))
        else:
            self.versions[key] = (row,)
        if row.parent_id and key not in self:
            self.children.add(JobKey(row.namespace, JobID(row.parent_id)), row.id)
        # A job's kind never changes while it exists.
        if row.is_periodic:
            self._periodic[key] = None
        if row.type == SYSTEM:
            self._system[key] = None
        super().put(key, row, index)

    def put_version(self, row: Job, index: int) -> None:
        """Set one kept version of a job, be it the current one or an older one."""
        current = self._rows[row.key]
        if current.version == row.version:
            self.put(row.key, row, index)
            return
        versions = self.versions[row.key]
        self.versions[row.key] = tuple(row if old.version == row.version else old for old in versions)
        self._changed(row.key, index)

    def with_job(self, job: Job) -> Jobs:
        """A copy of the table in which one job is another, or new; nobody watches it."""
        other = copy(self)
        other._rows = {**self._rows, job.key: job}
        kept = [old for old in self.versions.get(job.key, ()) if old.version != job.version]
        other.versions = {**self.versions, job.key: (job, *kept)}
        return other

    def delete(self, key: JobKey, index: int) -> Job | None:
        """Remove a job with all its versions."""
        job = super().delete(key, index)
        self.versions.pop(key, None)
        self._periodic.pop(key, None)
        self._system.pop(key, None)
        if job is not None and job.parent_id:
            self.children.discard(JobKey(job.namespace, JobID(job.parent_id)), job.id)
        return job

    def version(self, ref: JobRef) -> Job | None:
        """The job version that `ref` names, if it is still kept."""
        for job in self.versions.get(ref.key, ()):
            if job.version == ref.version and job.create_index == ref.create_index:
                return job
        return None

    def children_of(self, key: JobKey) -> list[Job]:
        """The jobs that a periodic or parameterized job launched."""
        return [self[JobKey(key.namespace, child)] for child in self.children.of(key)]


class JobSummaries(Table[JobKey, JobSummary]):
    """Counters by job."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("job-summaries", watches)


def _pruned(versions: list[Job], *, most: int) -> tuple[Job, ...]:
    """Keep the newest versions; tagged ones do not count, and the newest stable one stays."""
    stable = next((job for job in versions if job.stable), None)
    kept: list[Job] = []
    counted = 0
    for job in versions:
        if job.version_tag is not None or job is stable:
            kept.append(job)
            counted += job.version_tag is None
        elif counted < most:
            kept.append(job)
            counted += 1
    # A stable version kept for its own sake displaces the oldest other one.
    untagged = [job for job in kept if job.version_tag is None]
    if len(untagged) > most:
        oldest = next(job for job in reversed(untagged) if job is not stable)
        kept.remove(oldest)
    return tuple(kept)
