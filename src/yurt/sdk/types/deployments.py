"""Deployments."""

from yurt.sdk.wire import Record

TERMINAL_STATUSES = ("failed", "successful", "cancelled", "blocked")


class GroupState(Record, frozen=True):
    """How far a deployment is with one group."""

    auto_revert: bool = False
    promoted: bool = False
    desired_canaries: int = 0
    desired_total: int = 0
    placed_allocs: int = 0
    healthy_allocs: int = 0
    unhealthy_allocs: int = 0
    require_progress_by: str = ""


class Deployment(Record, frozen=True):
    """One deployment."""

    id: str = ""
    namespace: str = ""
    job_id: str = ""
    job_version: int = 0
    is_multiregion: bool = False
    task_groups: dict[str, GroupState] = {}
    status: str = ""
    status_description: str = ""
    create_index: int = 0
    modify_index: int = 0


class DeploymentChanged(Record, frozen=True):
    """The answer to a write; `eval_id` is empty when nothing has to be scheduled."""

    eval_id: str = ""
    reverted_job_version: int | None = None
