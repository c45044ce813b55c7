"""Deployments: which one a job is in, when one begins, when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from yurt.model.deployment import (
    DEPLOYMENT_CANCELLED,
    DEPLOYMENT_FAILED,
    DEPLOYMENT_INITIALIZING,
    DEPLOYMENT_PAUSED,
    DEPLOYMENT_PENDING,
    DEPLOYMENT_RUNNING,
    DEPLOYMENT_SUCCESSFUL,
    Deployment,
    DeploymentState,
    DeploymentStatusUpdate,
)
from yurt.model.job import Job
from yurt.model.policies import UpdateStrategy
from yurt.model.wire import DeploymentID

RUNNING = "Deployment is running"
NEEDS_PROMOTION = "Deployment is running but requires manual promotion"
AUTO_PROMOTION = "Deployment is running pending automatic promotion"
SUCCESSFUL = "Deployment completed successfully"
JOB_STOPPED = "Cancelled because job is stopped"
NEWER_JOB = "Cancelled due to newer version of job"


class JobDeployments(msgspec.Struct, frozen=True, kw_only=True):
    """The deployment a job is in, the one before, and what that means for their statuses."""

    current: Deployment | None = None
    old: Deployment | None = None
    updates: tuple[DeploymentStatusUpdate, ...] = ()

    @property
    def is_paused(self) -> bool:
        """Whether nothing may move on for now."""
        paused = (DEPLOYMENT_PAUSED, DEPLOYMENT_PENDING, DEPLOYMENT_INITIALIZING)
        return self.current is not None and self.current.status in paused

    @property
    def is_failed(self) -> bool:
        """Whether the version is given up."""
        return self.current is not None and self.current.status == DEPLOYMENT_FAILED


def sort_deployments(job: Job | None, latest: Deployment | None) -> JobDeployments:
    """Say which deployment a job is in; one that is overtaken is cancelled."""
    if latest is None:
        return JobDeployments()
    if job is None or job.stop:
        return JobDeployments(old=latest, updates=_cancelled(latest, JOB_STOPPED))
    if not is_of(latest, job):
        return JobDeployments(old=latest, updates=_cancelled(latest, NEWER_JOB))
    if latest.status == DEPLOYMENT_SUCCESSFUL:
        return JobDeployments(old=latest)
    return JobDeployments(current=latest)


def is_of(deployment: Deployment, job: Job) -> bool:
    """Whether a deployment brings this version of this job into service."""
    return deployment.job_version == job.version and deployment.job_create_index == job.create_index


def has_strategy(strategy: UpdateStrategy | None) -> bool:
    """Whether updates go step by step."""
    return strategy is not None and strategy.max_parallel != 0


def new_group_state(strategy: UpdateStrategy | None) -> DeploymentState:
    """The state of a group whose update begins."""
    if strategy is None:
        return DeploymentState()
    return DeploymentState(
        auto_revert=strategy.auto_revert,
        auto_promote=strategy.auto_promote,
        progress_deadline=strategy.progress_deadline,
    )


def new_deployment(
    job: Job, groups: Mapping[str, DeploymentState], *, eval_priority: int, new_id: Callable[[], str]
) -> Deployment:
    """Begin to bring a job version into service."""
    return Deployment(
        id=DeploymentID(new_id()),
        namespace=job.namespace,
        job_id=job.id,
        job_version=job.version,
        job_modify_index=job.modify_index,
        job_spec_modify_index=job.job_modify_index,
        job_create_index=job.create_index,
        is_multiregion=job.multiregion is not None,
        task_groups=dict(groups),
        status=DEPLOYMENT_RUNNING,
        status_description=running_description(groups),
        eval_priority=eval_priority,
    )


def running_description(groups: Mapping[str, DeploymentState]) -> str:
    """How a running deployment is described: by what it waits for."""
    if not any(needs_promotion(state) for state in groups.values()):
        return RUNNING
    if all(state.auto_promote for state in groups.values() if state.desired_canaries > 0):
        return AUTO_PROMOTION
    return NEEDS_PROMOTION


def needs_promotion(state: DeploymentState) -> bool:
    """Whether a group's canaries wait to be promoted."""
    return state.desired_canaries > 0 and not state.promoted


def is_group_healthy(state: DeploymentState) -> bool:
    """Whether all that a group should have is healthy, and promoted where that is needed."""
    enough = state.healthy_allocs >= max(state.desired_total, state.desired_canaries)
    return enough and not needs_promotion(state)


def succeeded(deployment: Deployment) -> DeploymentStatusUpdate:
    """A deployment whose groups are all done."""
    return DeploymentStatusUpdate(
        deployment_id=deployment.id, status=DEPLOYMENT_SUCCESSFUL, status_description=SUCCESSFUL
    )


def with_groups(deployment: Deployment, groups: Mapping[str, DeploymentState]) -> Deployment:
    """A deployment with more groups, or newer states of its groups."""
    merged = {**deployment.task_groups, **groups}
    changed = replace(deployment, task_groups=merged)
    if deployment.status == DEPLOYMENT_RUNNING:
        changed = replace(changed, status_description=running_description(merged))
    return changed


def _cancelled(deployment: Deployment, why: str) -> tuple[DeploymentStatusUpdate, ...]:
    if not deployment.is_active:
        return ()
    return (
        DeploymentStatusUpdate(
            deployment_id=deployment.id, status=DEPLOYMENT_CANCELLED, status_description=why
        ),
    )
