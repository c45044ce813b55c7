"""Changes of deployments: failing them, promoting their canaries, pausing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from yurt.model.alloc import Allocation
from yurt.model.deployment import (
    DEPLOYMENT_FAILED,
    DEPLOYMENT_PAUSED,
    DEPLOYMENT_RUNNING,
    Deployment,
    DeploymentStatusUpdate,
)
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_DEPLOYMENT_WATCHER, Evaluation
from yurt.model.job import Job, JobKey
from yurt.model.job_versions import same_spec
from yurt.model.wire import AllocID, EvalID, Nanoseconds
from yurt.scheduler.reconcile.deployments import RUNNING, running_description
from yurt.state.entries import PromoteDeployment, SetDeploymentStatus
from yurt.state.state import State

UNHEALTHY = "Failed due to unhealthy allocations"
NO_PROGRESS = "Failed due to progress deadline"
BY_USER = "Deployment marked as failed"
PAUSED = "Deployment is paused"


class Rollback(msgspec.Struct, frozen=True, kw_only=True):
    """The version a failed deployment goes back to, if any, and what is said about that."""

    job: Job | None = None
    note: str = ""

    @property
    def version(self) -> int | None:
        """The number of that version."""
        return self.job.version if self.job is not None else None


def job_key(deployment: Deployment) -> JobKey:
    """The job that a deployment is about."""
    return JobKey(deployment.namespace, deployment.job_id)


def deployment_eval(
    deployment: Deployment, job: Job, *, now: Nanoseconds, new_id: Callable[[], str]
) -> Evaluation:
    """Have a job looked at, since its deployment moved."""
    return Evaluation(
        id=EvalID(new_id()),
        namespace=deployment.namespace,
        priority=deployment.eval_priority or job.priority,
        type=job.type,
        triggered_by=TRIGGER_DEPLOYMENT_WATCHER,
        job_id=deployment.job_id,
        deployment_id=deployment.id,
        status=EVAL_PENDING,
        create_time=now,
        modify_time=now,
    )


def find_rollback(state: State, deployment: Deployment, *, reverts: bool) -> Rollback:
    """Find the newest version known to be good, if the deployment goes back to one on failure."""
    if not reverts:
        return Rollback()
    key = job_key(deployment)
    stable = next((job for job in state.jobs.versions.get(key, ()) if job.stable), None)
    current = state.jobs.get(key)
    if stable is None or current is None:
        return Rollback(note=" - no stable job version to auto revert to")
    if _same_work(current, stable):
        # Going back to what just failed would fail again, for ever.
        return Rollback(
            note=f" - not rolling back to stable job version {stable.version}"
            " as current job has same specification"
        )
    return Rollback(
        job=replace(stable, version_tag=None), note=f" - rolling back to job version {stable.version}"
    )


def _same_work(one: Job, other: Job) -> bool:
    """Whether two versions of a job run the same; names and autoscaling do not matter."""
    bare = [
        replace(
            job,
            stop=False,
            version_tag=None,
            task_groups=tuple(replace(group, scaling=None) for group in job.task_groups),
        )
        for job in (one, other)
    ]
    return same_spec(bare[0], bare[1])


def failed(
    state: State,
    deployment: Deployment,
    why: str,
    *,
    reverts: bool,
    now: Nanoseconds,
    new_id: Callable[[], str],
) -> SetDeploymentStatus | None:
    """End a deployment without success; None if its job is gone."""
    job = state.jobs.get(job_key(deployment))
    if job is None:
        return None
    rollback = find_rollback(state, deployment, reverts=reverts)
    return SetDeploymentStatus(
        at=now,
        update=DeploymentStatusUpdate(
            deployment_id=deployment.id,
            status=DEPLOYMENT_FAILED,
            status_description=f"{why}{rollback.note}",
        ),
        rollback=replace(rollback.job, submit_time=now) if rollback.job is not None else None,
        evals=(deployment_eval(deployment, job, now=now, new_id=new_id),),
    )


def paused(deployment: Deployment, *, now: Nanoseconds) -> SetDeploymentStatus:
    """Hold a deployment."""
    update = DeploymentStatusUpdate(
        deployment_id=deployment.id, status=DEPLOYMENT_PAUSED, status_description=PAUSED
    )
    return SetDeploymentStatus(at=now, update=update, progress_at=now)


def resumed(
    deployment: Deployment, job: Job, *, now: Nanoseconds, new_id: Callable[[], str]
) -> SetDeploymentStatus:
    """Let a paused deployment go on."""
    update = DeploymentStatusUpdate(
        deployment_id=deployment.id,
        status=DEPLOYMENT_RUNNING,
        status_description=RUNNING,
    )
    evaluation = deployment_eval(deployment, job, now=now, new_id=new_id)
    return SetDeploymentStatus(at=now, update=update, progress_at=now, evals=(evaluation,))


def promoted(
    deployment: Deployment,
    job: Job,
    groups: Iterable[str],
    *,
    now: Nanoseconds,
    new_id: Callable[[], str],
) -> PromoteDeployment:
    """Make the canaries of some groups ordinary instances."""
    chosen = tuple(name for name in groups if name in deployment.task_groups)
    after = {
        name: replace(group, promoted=True) if name in chosen else group
        for name, group in deployment.task_groups.items()
    }
    return PromoteDeployment(
        at=now,
        deployment_id=deployment.id,
        groups=chosen,
        description=running_description(after),
        evals=(deployment_eval(deployment, job, now=now, new_id=new_id),),
    )


def canaries(state: State, deployment: Deployment, group: str) -> list[Allocation]:
    """The canaries of a group that still run."""
    ids = deployment.task_groups[group].placed_canaries or ()
    found = (state.allocs.get(AllocID(alloc_id)) for alloc_id in ids)
    return [alloc for alloc in found if alloc is not None and not alloc.is_terminal]
