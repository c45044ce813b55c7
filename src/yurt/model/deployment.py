"""A deployment: a job version on its way into service."""

from __future__ import annotations

from yurt.model.wire import DEFAULT_NAMESPACE, DeploymentID, JobID, Nanoseconds, Time, Wire

DEPLOYMENT_INITIALIZING = "initializing"
DEPLOYMENT_PENDING = "pending"
DEPLOYMENT_RUNNING = "running"
DEPLOYMENT_PAUSED = "paused"
DEPLOYMENT_BLOCKED = "blocked"
DEPLOYMENT_UNBLOCKING = "unblocking"
DEPLOYMENT_SUCCESSFUL = "successful"
DEPLOYMENT_FAILED = "failed"
DEPLOYMENT_CANCELLED = "cancelled"

_TERMINAL = frozenset((DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_FAILED, DEPLOYMENT_CANCELLED))


class DeploymentState(Wire, frozen=True, kw_only=True):
    """How far a group is."""

    auto_revert: bool = False
    auto_promote: bool = False
    progress_deadline: Nanoseconds = 0
    require_progress_by: Time = None
    promoted: bool = False
    placed_canaries: tuple[str, ...] | None = None
    desired_canaries: int = 0
    desired_total: int = 0
    placed_allocs: int = 0
    healthy_allocs: int = 0
    unhealthy_allocs: int = 0


class Deployment(Wire, frozen=True, kw_only=True):
    """A job version on its way into service."""

    id: DeploymentID = DeploymentID("")
    namespace: str = DEFAULT_NAMESPACE
    job_id: JobID = JobID("")
    job_version: int = 0
    job_modify_index: int = 0
    job_spec_modify_index: int = 0
    job_create_index: int = 0
    is_multiregion: bool = False
    task_groups: dict[str, DeploymentState] = {}
    status: str = DEPLOYMENT_RUNNING
    status_description: str = ""
    eval_priority: int = 0
    create_index: int = 0
    modify_index: int = 0
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0

    @property
    def is_active(self) -> bool:
        """Whether the deployment may still change."""
        return self.status not in _TERMINAL


class DeploymentStatusUpdate(Wire, frozen=True, kw_only=True):
    """A new status for a deployment."""

    deployment_id: DeploymentID
    status: str
    status_description: str
