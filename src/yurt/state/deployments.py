"""The table of deployments."""

from __future__ import annotations

from yurt.model.deployment import Deployment
from yurt.model.job import JobKey
from yurt.model.wire import DeploymentID
from yurt.state.grouped import Grouped
from yurt.state.table import Table
from yurt.state.watches import Watches


class Deployments(Table[DeploymentID, Deployment]):
    """Deployments by id, with an index by job. Watch family besides the table's: "deployments-of-job"."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("deployments", watches)
        self._by_job: Grouped[JobKey, DeploymentID] = Grouped()
        self._active: dict[DeploymentID, None] = {}
        self._job_family = watches.family("deployments-of-job")

    def active(self) -> list[Deployment]:
        """The deployments that may still change."""
        return [self._rows[deployment_id] for deployment_id in self._active]

    def of_job(self, key: JobKey) -> list[Deployment]:
        """All deployments of a job, oldest first."""
        return [self._rows[deployment_id] for deployment_id in self._by_job.of(key)]

    def latest_of_job(self, key: JobKey) -> Deployment | None:
        """The newest deployment of a job."""
        return max(self.of_job(key), key=lambda deployment: deployment.create_index, default=None)

    def has_active(self, key: JobKey) -> bool:
        """Whether a deployment of the job may still change."""
        of_job = self._by_job.of(key)
        return bool(of_job) and any(deployment_id in self._active for deployment_id in of_job)

    def put(self, key: DeploymentID, row: Deployment, index: int) -> None:
        """Set one deployment."""
        job_key = JobKey(row.namespace, row.job_id)
        self._by_job.add(job_key, key)
        if row.is_active:
            self._active[key] = None
        else:
            self._active.pop(key, None)
        self._watches.touch(self._job_family, job_key)
        super().put(key, row, index)

    def delete(self, key: DeploymentID, index: int) -> Deployment | None:
        """Remove one deployment."""
        row = super().delete(key, index)
        if row is not None:
            job_key = JobKey(row.namespace, row.job_id)
            self._by_job.discard(job_key, key)
            self._active.pop(key, None)
            self._watches.touch(self._job_family, job_key)
        return row
