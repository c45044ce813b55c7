"""The last good version: what replacements run while a newer version is being tried out."""

from __future__ import annotations

from typing import NamedTuple

from yurt.model.job import Job
from yurt.model.plan import JobRef
from yurt.model.wire import DeploymentID
from yurt.scheduler.reconcile.changes import Place
from yurt.scheduler.reconcile.deployments import has_strategy, needs_promotion
from yurt.state.state import State


class Target(NamedTuple):
    """The job version that a placement runs, and the deployment it belongs to."""

    job: Job
    deployment_id: DeploymentID


def last_good_version(state: State, job: Job, place: Place) -> Target | None:
    """The newest version in service that is not older than what is replaced; None if the current must do."""
    group = place.task_group
    good = [
        deployment
        for deployment in state.deployments.of_job(job.key)
        if deployment.job_create_index == job.create_index
        and (known := deployment.task_groups.get(group)) is not None
        and not needs_promotion(known)
    ]
    newest = max(good, key=lambda deployment: deployment.job_version, default=None)
    if newest is not None:
        version = _version(state, job, newest.job_version)
        deployment_id = newest.id
    else:
        # A version without an update block never had a deployment.
        version = _version(state, job, place.version_min)
        deployment_id = DeploymentID("")
        old = version.group(group) if version is not None else None
        if old is not None and has_strategy(old.update):
            return None
    if version is None or version.version < place.version_min or version.group(group) is None:
        return None
    return Target(version, deployment_id)


def _version(state: State, job: Job, number: int) -> Job | None:
    return state.jobs.version(JobRef(job.namespace, job.id, job.create_index, number))
