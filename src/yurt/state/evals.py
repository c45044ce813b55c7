"""The table of evaluations."""

from __future__ import annotations

from yurt.model.evaluation import EVAL_BLOCKED, Evaluation
from yurt.model.job import JobKey
from yurt.model.wire import EvalID
from yurt.state.grouped import Grouped
from yurt.state.table import Table
from yurt.state.watches import Watches


class Evals(Table[EvalID, Evaluation]):
    """Evaluations by id, with an index by job. Watch family besides the table's: "evals-of-job"."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("evals", watches)
        self._by_job: Grouped[JobKey, EvalID] = Grouped()
        self._open: Grouped[JobKey, EvalID] = Grouped()
        self._job_family = watches.family("evals-of-job")

    def of_job(self, key: JobKey) -> list[Evaluation]:
        """All evaluations of a job, oldest first."""
        return [self._rows[eval_id] for eval_id in self._by_job.of(key)]

    def has_any(self, key: JobKey) -> bool:
        """Whether there is an evaluation of the job."""
        return bool(self._by_job.of(key))

    def has_open(self, key: JobKey) -> bool:
        """Whether an evaluation of the job is not terminal."""
        return bool(self._open.of(key))

    def open_of_job(self, key: JobKey) -> list[Evaluation]:
        """The evaluations of a job that are not terminal."""
        return [self._rows[eval_id] for eval_id in self._open.of(key)]

    def blocked_of_job(self, key: JobKey) -> list[Evaluation]:
        """The blocked evaluations of a job."""
        return [evaluation for evaluation in self.open_of_job(key) if evaluation.status == EVAL_BLOCKED]

    def put(self, key: EvalID, row: Evaluation, index: int) -> None:
        """Set one evaluation."""
        job_key = JobKey(row.namespace, row.job_id)
        self._by_job.add(job_key, key)
        if row.is_terminal:
            self._open.discard(job_key, key)
        else:
            self._open.add(job_key, key)
        self._watches.touch(self._job_family, job_key)
        super().put(key, row, index)

    def delete(self, key: EvalID, index: int) -> Evaluation | None:
        """Remove one evaluation."""
        row = super().delete(key, index)
        if row is not None:
            job_key = JobKey(row.namespace, row.job_id)
            self._by_job.discard(job_key, key)
            self._open.discard(job_key, key)
            self._watches.touch(self._job_family, job_key)
        return row
