"""Job definitions as plain Python objects.

A definition says what its author says: members that are not set are left out of the request, so that the
server fills in its own defaults. `to_api` gives the form that `jobs.register` and `jobs.plan` take.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from yurt.sdk.wire import api_name

Text = str | UnsetType
Number = int | UnsetType
Flag = bool | UnsetType
Duration = timedelta | UnsetType
Texts = Sequence[str] | UnsetType
Meta = Mapping[str, str] | UnsetType


def _name(field: str) -> str:
    return _NAMES.get(field) or api_name(field)


# Where the API's names do not follow the rule.
_NAMES = {"ltarget": "LTarget", "rtarget": "RTarget", "ipv6": "IPv6"}


class Definition(msgspec.Struct, kw_only=True, rename=_name):
    """A part of a job; keyword arguments only, all but names optional."""


class Constraint(Definition, kw_only=True):
    """What a node must have; `operand` compares `ltarget` with `rtarget`."""

    ltarget: Text = UNSET
    operand: Text = UNSET
    rtarget: Text = UNSET


class Affinity(Definition, kw_only=True):
    """What a node should have, weighing -100 to 100."""

    ltarget: Text = UNSET
    operand: Text = UNSET
    rtarget: Text = UNSET
    weight: Number = UNSET


class SpreadTarget(Definition, kw_only=True):
    """Which share of the instances a value is to get."""

    value: str
    percent: Number = UNSET


class Spread(Definition, kw_only=True):
    """An attribute over whose values instances are spread."""

    attribute: str
    weight: Number = UNSET
    spread_target: Sequence[SpreadTarget] | UnsetType = UNSET


class Resources(Definition, kw_only=True):
    """What a task needs."""

    cpu: Number = UNSET
    cores: Number = UNSET
    memory_mb: Number = UNSET
    memory_max_mb: Number = UNSET


class Port(Definition, kw_only=True):
    """A port: `value` on the host for a reserved one, `to` inside the group's network."""

    label: str
    value: Number = UNSET
    to: Number = UNSET
    host_network: Text = UNSET


class Network(Definition, kw_only=True):
    """The network of a group."""

    mode: Text = UNSET
    reserved_ports: Sequence[Port] | UnsetType = UNSET
    dynamic_ports: Sequence[Port] | UnsetType = UNSET


class Check(Definition, kw_only=True):
    """How a service's health is found out."""

    name: Text = UNSET
    type: Text = UNSET
    path: Text = UNSET
    port_label: Text = UNSET
    interval: Duration = UNSET
    timeout: Duration = UNSET


class Service(Definition, kw_only=True):
    """What a group or task offers under a name."""

    name: Text = UNSET
    port_label: Text = UNSET
    provider: Text = UNSET
    tags: Texts = UNSET
    checks: Sequence[Check] | UnsetType = UNSET


class Template(Definition, kw_only=True):
    """A file that is made from a template before the task starts."""

    embedded_tmpl: Text = UNSET
    source_path: Text = UNSET
    dest_path: Text = UNSET
    change_mode: Text = UNSET
    change_signal: Text = UNSET
    perms: Text = UNSET
    envvars: Flag = UNSET


class Artifact(Definition, kw_only=True):
    """A file that is fetched before the task starts."""

    getter_source: str
    relative_dest: Text = UNSET
    getter_mode: Text = UNSET
    getter_options: Meta = UNSET


class Lifecycle(Definition, kw_only=True):
    """When a task runs, other than beside the main ones."""

    hook: str
    sidecar: Flag = UNSET


class VolumeMount(Definition, kw_only=True):
    """Where a task sees a volume of its group."""

    volume: str
    destination: str
    read_only: Flag = UNSET


class LogConfig(Definition, kw_only=True):
    """How much a task may log."""

    max_files: Number = UNSET
    max_file_size_mb: Number = UNSET


class Task(Definition, kw_only=True):
    """Something that runs."""

    name: str
    driver: str
    config: Mapping[str, Any] | UnsetType = UNSET
    env: Meta = UNSET
    user: Text = UNSET
    resources: Resources | UnsetType = UNSET
    services: Sequence[Service] | UnsetType = UNSET
    templates: Sequence[Template] | UnsetType = UNSET
    artifacts: Sequence[Artifact] | UnsetType = UNSET
    constraints: Sequence[Constraint] | UnsetType = UNSET
    affinities: Sequence[Affinity] | UnsetType = UNSET
    lifecycle: Lifecycle | UnsetType = UNSET
    volume_mounts: Sequence[VolumeMount] | UnsetType = UNSET
    log_config: LogConfig | UnsetType = UNSET
    kill_timeout: Duration = UNSET
    kill_signal: Text = UNSET
    shutdown_delay: Duration = UNSET
    leader: Flag = UNSET
    meta: Meta = UNSET


class RestartPolicy(Definition, kw_only=True):
    """How tasks that fail are restarted on their node."""

    attempts: Number = UNSET
    interval: Duration = UNSET
    delay: Duration = UNSET
    mode: Text = UNSET


class ReschedulePolicy(Definition, kw_only=True):
    """How instances that failed are placed anew."""

    attempts: Number = UNSET
    interval: Duration = UNSET
    delay: Duration = UNSET
    delay_function: Text = UNSET
    max_delay: Duration = UNSET
    unlimited: Flag = UNSET


class Update(Definition, kw_only=True):
    """How a new version takes over from the one before."""

    max_parallel: Number = UNSET
    canary: Number = UNSET
    min_healthy_time: Duration = UNSET
    healthy_deadline: Duration = UNSET
    progress_deadline: Duration = UNSET
    auto_revert: Flag = UNSET
    auto_promote: Flag = UNSET
    stagger: Duration = UNSET


class EphemeralDisk(Definition, kw_only=True):
    """The disk that the tasks of an instance share."""

    size_mb: Number = UNSET
    sticky: Flag = UNSET
    migrate: Flag = UNSET


class Volume(Definition, kw_only=True):
    """A volume that a group asks for."""

    name: Text = UNSET
    type: Text = UNSET
    source: Text = UNSET
    read_only: Flag = UNSET


class Scaling(Definition, kw_only=True):
    """Between which counts a group may be scaled."""

    min: Number = UNSET
    max: Number = UNSET
    enabled: Flag = UNSET
    policy: Mapping[str, Any] | UnsetType = UNSET


class Group(Definition, kw_only=True):
    """Tasks that run together on one node, `count` times."""

    name: str
    tasks: Sequence[Task]
    count: Number = UNSET
    networks: Sequence[Network] | UnsetType = UNSET
    services: Sequence[Service] | UnsetType = UNSET
    constraints: Sequence[Constraint] | UnsetType = UNSET
    affinities: Sequence[Affinity] | UnsetType = UNSET
    spreads: Sequence[Spread] | UnsetType = UNSET
    restart_policy: RestartPolicy | UnsetType = UNSET
    reschedule_policy: ReschedulePolicy | UnsetType = UNSET
    update: Update | UnsetType = UNSET
    ephemeral_disk: EphemeralDisk | UnsetType = UNSET
    volumes: Mapping[str, Volume] | UnsetType = UNSET
    scaling: Scaling | UnsetType = UNSET
    shutdown_delay: Duration = UNSET
    meta: Meta = UNSET


class Periodic(Definition, kw_only=True):
    """When a job is launched, in cron's words."""

    specs: Texts = UNSET
    spec_type: Text = "cron"
    enabled: Flag = True
    prohibit_overlap: Flag = UNSET
    time_zone: Text = UNSET


class Parameterized(Definition, kw_only=True):
    """What a dispatch must and may carry."""

    payload: Text = UNSET
    meta_required: Texts = UNSET
    meta_optional: Texts = UNSET


class Job(Definition, kw_only=True):
    """A job."""

    id: str
    task_groups: Sequence[Group]
    name: Text = UNSET
    type: Text = UNSET
    namespace: Text = UNSET
    region: Text = UNSET
    priority: Number = UNSET
    datacenters: Texts = UNSET
    node_pool: Text = UNSET
    constraints: Sequence[Constraint] | UnsetType = UNSET
    affinities: Sequence[Affinity] | UnsetType = UNSET
    spreads: Sequence[Spread] | UnsetType = UNSET
    update: Update | UnsetType = UNSET
    periodic: Periodic | UnsetType = UNSET
    parameterized_job: Parameterized | UnsetType = UNSET
    meta: Meta = UNSET

    def to_api(self) -> dict[str, Any]:
        """Give the job in the API's own form; a job without a name is named by its id."""
        told = _plain(self)
        assert isinstance(told, dict)
        return {"Name": self.id, **told}


def _plain(value: object) -> Any:  # noqa: ANN401 - any JSON
    """A definition as JSON, durations in nanoseconds. What was set is said, though it be a default."""
    if isinstance(value, msgspec.Struct):
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return {
            wire: _plain(member) for field, wire in names if (member := getattr(value, field)) is not UNSET
        }
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1) * 1000
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(member) for member in value]
    return value
