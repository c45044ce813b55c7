"""The table of job sources."""

from __future__ import annotations

from typing import NamedTuple

from yurt.model.job import JobKey
from yurt.model.job_submission import JobSubmission
from yurt.state.grouped import Grouped
from yurt.state.table import Table
from yurt.state.watches import Watches


class SubmissionKey(NamedTuple):
    """What identifies the source of a job's version."""

    job: JobKey
    version: int


class Submissions(Table[SubmissionKey, JobSubmission]):
    """Sources of jobs by job and version."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("job-submissions", watches)
        self._by_job: Grouped[JobKey, SubmissionKey] = Grouped()

    def put(self, key: SubmissionKey, row: JobSubmission, index: int) -> None:
        """Set the source of one version."""
        self._by_job.add(key.job, key)
        super().put(key, row, index)

    def delete(self, key: SubmissionKey, index: int) -> JobSubmission | None:
        """Remove the source of one version."""
        self._by_job.discard(key.job, key)
        return super().delete(key, index)

    def keep_only(self, job: JobKey, versions: set[int], index: int) -> None:
        """Remove the sources of all other versions of a job."""
        for key in list(self._by_job.of(job)):
            if key.version not in versions:
                self.delete(key, index)
