"""A task group: the tasks that are placed together on one node."""

from __future__ import annotations

from yurt.model.placement_rules import Affinity, Constraint, Spread
from yurt.model.policies import (
    DisconnectStrategy,
    EphemeralDisk,
    MigrateStrategy,
    ReschedulePolicy,
    ScalingPolicy,
    UpdateStrategy,
)
from yurt.model.resources import NetworkResource
from yurt.model.service import Service
from yurt.model.task import Task
from yurt.model.task_parts import Consul, RestartPolicy
from yurt.model.volume import VolumeRequest
from yurt.model.wire import Nanoseconds, Wire


class TaskGroup(Wire, frozen=True, kw_only=True):
    """The tasks that are placed together on one node, `count` times."""

    name: str = ""
    count: int = 1
    update: UpdateStrategy | None = None
    migrate: MigrateStrategy | None = None
    constraints: tuple[Constraint, ...] | None = None
    scaling: ScalingPolicy | None = None
    restart_policy: RestartPolicy = RestartPolicy()
    disconnect: DisconnectStrategy | None = None
    tasks: tuple[Task, ...] = ()
    ephemeral_disk: EphemeralDisk = EphemeralDisk()
    meta: dict[str, str] | None = None
    reschedule_policy: ReschedulePolicy | None = None
    affinities: tuple[Affinity, ...] | None = None
    spreads: tuple[Spread, ...] | None = None
    networks: tuple[NetworkResource, ...] | None = None
    consul: Consul | None = None
    services: tuple[Service, ...] | None = None
    volumes: dict[str, VolumeRequest] | None = None
    shutdown_delay: Nanoseconds | None = None
    max_run_duration: Nanoseconds | None = None
    stop_after_client_disconnect: Nanoseconds | None = None
    max_client_disconnect: Nanoseconds | None = None
    prevent_reschedule_on_lost: bool = False

    def task(self, name: str) -> Task | None:
        """Find a task by its name."""
        return next((task for task in self.tasks if task.name == name), None)
