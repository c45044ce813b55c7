"""A plan: what one scheduling pass wants changed, with nothing left to decide."""

from __future__ import annotations

import msgspec

from yurt.model.alloc import AllocDeploymentStatus, AllocStateChange, RescheduleTracker
from yurt.model.allocated import AllocatedResources
from yurt.model.deployment import Deployment, DeploymentStatusUpdate
from yurt.model.job import JobKey
from yurt.model.plan_annotations import PlanAnnotations
from yurt.model.wire import AllocID, DeploymentID, EvalID, NodeID


class JobRef(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A job version that State holds. `create_index` tells a purged job from its namesake."""

    namespace: str
    id: str
    create_index: int
    version: int

    @property
    def key(self) -> JobKey:
        """What identifies the job."""
        return JobKey(self.namespace, self.id)  # type: ignore[arg-type]  # a NewType, read from the log


class PlacementDetail(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one placement has that its group's other placements have not."""

    resources: AllocatedResources | None = None
    metrics: bytes | None = None
    previous_allocation: str = ""
    deployment_status: AllocDeploymentStatus | None = None
    reschedule_tracker: RescheduleTracker | None = None
    preempted_allocations: tuple[str, ...] = ()
    desired_description: str = ""


class Placements(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """New allocations of one group: columns, since there may be thousands.

    `ids`, `name_indexes` and `node_ids` run side by side; `details` holds exceptions by position.
    """

    job: JobRef
    task_group: str
    eval_id: EvalID
    resources: AllocatedResources
    ids: list[AllocID]
    name_indexes: list[int]
    node_ids: list[NodeID]
    metrics: bytes = b""
    deployment_id: DeploymentID = DeploymentID("")
    details: dict[int, PlacementDetail] = {}


class StopAllocs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Allocations to stop, all for the same reason."""

    ids: list[AllocID]
    description: str
    client_status: str = ""
    followup_eval_id: str = ""


class UpdateAlloc(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A change of an allocation that stays where it is; None leaves a member alone."""

    id: AllocID
    job: JobRef | None = None
    eval_id: EvalID | None = None
    resources: AllocatedResources | None = None
    metrics: bytes | None = None
    desired_description: str | None = None
    client_status: str | None = None
    client_description: str | None = None
    alloc_states: tuple[AllocStateChange, ...] | None = None
    followup_eval_id: str | None = None
    deployment_id: DeploymentID | None = None
    deployment_status: AllocDeploymentStatus | None = None
    clear_deployment_status: bool = False
    reschedule_tracker: RescheduleTracker | None = None


class Preemption(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An allocation that makes room for another."""

    id: AllocID
    by: AllocID


class PlanChanges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a plan changes; also what is committed of it."""

    placements: tuple[Placements, ...] = ()
    stops: tuple[StopAllocs, ...] = ()
    updates: tuple[UpdateAlloc, ...] = ()
    preemptions: tuple[Preemption, ...] = ()
    deployment: Deployment | None = None
    deployment_updates: tuple[DeploymentStatusUpdate, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether committing it would change nothing. Preemptions alone do not count."""
        return not (
            self.placements
            or self.stops
            or self.updates
            or self.deployment is not None
            or self.deployment_updates
        )


class Plan(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A scheduling pass's wish, to be verified against the newest state."""

    eval_id: EvalID
    priority: int
    snapshot_index: int
    changes: PlanChanges = PlanChanges()
    all_at_once: bool = False
    annotations: PlanAnnotations | None = None
