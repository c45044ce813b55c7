"""What reconciling finds: the changes that bring a job to what is asked for."""

from __future__ import annotations

import msgspec

from yurt.model.alloc import Allocation
from yurt.model.deployment import Deployment, DeploymentStatusUpdate
from yurt.model.evaluation import Evaluation
from yurt.model.plan import UpdateAlloc
from yurt.model.plan_annotations import DesiredUpdates
from yurt.model.wire import AllocID
from yurt.scheduler.reconcile.updates import InPlace

NOT_NEEDED = "alloc not needed due to job update"
MIGRATING = "alloc is being migrated"
UPDATING = "alloc is being updated due to job update"
UPDATING_IN_PLACE = "alloc updating in-place"
LOST = "alloc is lost since its node is down"
UNKNOWN = "alloc is unknown since its node is disconnected"
RECONNECTED = "alloc not needed due to disconnected client reconnect"
NODE_TAINTED = "alloc not needed as node is tainted"
REPLACED_FAILURE = "alloc was rescheduled because it failed"
# What failed and is placed anew is stopped without a word, as in Nomad.
RESCHEDULED = ""


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """An allocation to stop."""

    alloc: Allocation
    description: str
    client_status: str = ""
    followup_eval_id: str = ""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """An instance to place.

    With `stop` the previous allocation is stopped if, and only if, the instance finds a node. With
    `keeps_version` it is to run the last good version at least as new as `version_min`, since the
    current one is still being tried out.
    """

    task_group: str
    name_index: int
    previous: Allocation | None = None
    stop: Stop | None = None
    is_reschedule: bool = False
    is_canary: bool = False
    keeps_version: bool = False
    version_min: int = 0


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What must change. `destructive` are placements that replace a running instance."""

    place: tuple[Place, ...] = ()
    destructive: tuple[Place, ...] = ()
    stop: tuple[Stop, ...] = ()
    in_place: tuple[InPlace, ...] = ()
    # Disconnects, reconnects, and the follow-ups that failed allocations wait for.
    updates: tuple[UpdateAlloc, ...] = ()
    follow_ups: tuple[Evaluation, ...] = ()
    deployment: Deployment | None = None
    deployment_updates: tuple[DeploymentStatusUpdate, ...] = ()
    # The deployment that placements belong to: the current one, perhaps just made.
    current_deployment: Deployment | None = None
    desired: dict[str, DesiredUpdates] = {}


def not_stopped(updates: list[UpdateAlloc], stopped: set[AllocID]) -> list[UpdateAlloc]:
    """Leave out updates of allocations that are stopped anyway."""
    return [update for update in updates if update.id not in stopped]
