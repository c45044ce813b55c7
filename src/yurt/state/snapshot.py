"""State as a sequence of chunks, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from yurt.errors import YurtError
from yurt.model.alloc import (
    Allocation,
    AllocDeploymentStatus,
    AllocStateChange,
    DesiredTransition,
    NetworkStatus,
    RescheduleTracker,
)
from yurt.model.allocated import AllocatedResources
from yurt.model.autopilot import AutopilotConfiguration
from yurt.model.deliveries import Delivery
from yurt.model.deployment import Deployment
from yurt.model.evaluation import Evaluation
from yurt.model.host_volume import DynamicVolume
from yurt.model.job import Job, JobKey
from yurt.model.job_submission import JobSubmission
from yurt.model.job_summary import JobSummary
from yurt.model.namespace import Namespace
from yurt.model.node import Node
from yurt.model.node_pool import NodePool
from yurt.model.periodic_launch import PeriodicLaunch
from yurt.model.policies import ScalingPolicy
from yurt.model.quota import QuotaSpec
from yurt.model.root_key import RootKey
from yurt.model.scaling_event import JobScalingEvents
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.service_registration import ServiceRegistration
from yurt.model.simple.templates import JobTemplate
from yurt.model.variable import Variable
from yurt.model.volume_claim import VolumeClaim
from yurt.model.wire import AllocID, DeploymentID, EvalID, NodeID
from yurt.state.acl_snapshot import acl_readers, acl_tables
from yurt.state.state import AUTOPILOT_CONFIGURATION_KEY, SCHEDULER_CONFIGURATION_KEY, State
from yurt.state.submissions import SubmissionKey

SNAPSHOT_FORMAT = 1

# Small enough that encoding one holds the interpreter for about a millisecond.
ROWS_PER_CHUNK = 500

_T = TypeVar("_T")


class SnapshotUnreadable(YurtError):
    """A snapshot's content is not what this Yurt can read."""


class SnapshotHead(msgspec.Struct, frozen=True, kw_only=True):
    """The first chunk of a snapshot."""

    format: int
    index: int
    table_indexes: dict[str, int]


class _AllocRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An allocation with numbers for what allocations share."""

    id: AllocID
    job: int
    task_group: str
    name_index: int
    node_id: NodeID
    node_name: str
    eval_id: EvalID
    resources: int
    metrics: int
    desired_status: str
    desired_description: str
    desired_transition: DesiredTransition | None
    client_status: str
    client_description: str
    task_states: bytes
    alloc_states: tuple[AllocStateChange, ...]
    previous_allocation: str
    next_allocation: str
    followup_eval_id: str
    deployment_id: DeploymentID
    deployment_status: AllocDeploymentStatus | None
    reschedule_tracker: RescheduleTracker | None
    network_status: NetworkStatus | None
    preempted_allocations: tuple[str, ...]
    preempted_by_allocation: str
    create_index: int
    modify_index: int
    alloc_modify_index: int
    create_time: int
    modify_time: int


# The job versions that jobs hold, newest first, as numbers of shared jobs; the current one is marked.
class _JobRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    current: int
    versions: tuple[int, ...]


class _Numbers:
    """Numbers for objects that many rows share; new ones are written before the rows that use them."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self.fresh: list[Any] = []
        # Keeps every numbered object alive, so that its id() stays its own.
        self._all: list[Any] = []

    def of(self, shared: object) -> int:
        number = self._numbers.get(id(shared))
        if number is None:
            number = self._numbers[id(shared)] = len(self._all)
            self._all.append(shared)
            self.fresh.append(shared)
        return number

    def take_fresh(self) -> list[Any]:
        fresh, self.fresh = self.fresh, []
        return fresh


_encode = msgspec.msgpack.Encoder().encode


def dump(state: State) -> Iterator[bytes]:
    """Write State as chunks, as of now.

    The copy is made at once, in the thread that owns State; the chunks may then be taken in another
    thread while State goes on: its objects are never mutated.
    """
    head = SnapshotHead(
        format=SNAPSHOT_FORMAT,
        index=state.index,
        table_indexes={table.name: table.index for table in _tables(state)},
    )
    plain: list[tuple[str, list[Any]]] = [
        ("namespaces", state.namespaces.rows()),
        ("node-pools", state.node_pools.rows()),
        ("settings", state.settings.rows()),
        ("autopilot", state.autopilot.rows()),
        ("nodes", state.nodes.rows()),
        ("alloc-reports", list(state.nodes.alloc_reports.items())),
        ("job-summaries", state.job_summaries.rows()),
        ("evals", state.evals.rows()),
        ("deployments", state.deployments.rows()),
        ("periodic-launches", state.periodic_launches.rows()),
        ("job-submissions", state.submissions.rows()),
        ("scaling-policies", state.scaling_policies.rows()),
        ("scaling-events", state.scaling_events.rows()),
        ("services", state.services.rows()),
        *((table.name, table.rows()) for table in acl_tables(state.acl)),
        ("root-keys", state.root_keys.rows()),
        ("job-templates", state.job_templates.rows()),
        ("deliveries", state.deliveries.rows()),
        ("variables", state.variables.rows()),
        ("quotas", state.quotas.rows()),
        ("host-volumes", state.host_volumes.rows()),
        ("volume-claims", state.volume_claims.rows()),
    ]
    jobs = [(job, state.jobs.versions[job.key]) for job in state.jobs]
    allocs = state.allocs.rows()
    return _chunks(head, plain, jobs, allocs)


def _chunks(
    head: SnapshotHead,
    plain: list[tuple[str, list[Any]]],
    jobs: list[tuple[Job, tuple[Job, ...]]],
    allocs: list[Allocation],
) -> Iterator[bytes]:
    yield _encode(head)
    shared_jobs, shared_resources, shared_metrics = _Numbers(), _Numbers(), _Numbers()
    for name, rows in plain:
        for part in _parts(rows):
            yield _section(name, part)
    for pairs in _parts(jobs):
        job_rows = [
            _JobRow(shared_jobs.of(current), tuple(shared_jobs.of(job) for job in versions))
            for current, versions in pairs
        ]
        yield _section("shared-jobs", shared_jobs.take_fresh())
        yield _section("jobs", job_rows)
    for part in _parts(allocs):
        alloc_rows = [_alloc_row(alloc, shared_jobs, shared_resources, shared_metrics) for alloc in part]
        for name, numbers in (
            ("shared-jobs", shared_jobs),
            ("shared-resources", shared_resources),
            ("shared-metrics", shared_metrics),
        ):
            fresh = numbers.take_fresh()
            if fresh:
                yield _section(name, fresh)
        yield _section("allocs", alloc_rows)


def _section(name: str, rows: list[Any]) -> bytes:
    return _encode(name) + _encode(rows)


def _section_name(chunk: bytes) -> tuple[str, int]:
    """The name of a section, and where its rows begin."""
    # A section is a short text, whose first byte tells its length, and a list.
    size = 1 + (chunk[0] & 0x1F)
    return msgspec.msgpack.decode(chunk[:size], type=str), size


# Sections of what the rows of a table share, or say beside it.
_PARTS_OF_TABLES = {
    "shared-jobs": "jobs",
    "shared-resources": "allocs",
    "shared-metrics": "allocs",
    "alloc-reports": "nodes",
}


def measured(chunks: Iterable[bytes], sizes: dict[str, int]) -> Iterator[bytes]:
    """Hand on the chunks that `dump` makes, and add up in `sizes` how many bytes each table takes."""
    for position, chunk in enumerate(chunks):
        # The first is the head.
        if position:
            name, _ = _section_name(chunk)
            table = _PARTS_OF_TABLES.get(name, name)
            sizes[table] = sizes.get(table, 0) + len(chunk)
        yield chunk


def _parts(rows: list[_T]) -> Iterator[list[_T]]:
    for start in range(0, len(rows), ROWS_PER_CHUNK):
        yield rows[start : start + ROWS_PER_CHUNK]


_OWN_FIELDS = _AllocRow.__struct_fields__[9:]


def _alloc_row(alloc: Allocation, jobs: _Numbers, resources: _Numbers, metrics: _Numbers) -> _AllocRow:
    return _AllocRow(
        alloc.id,
        jobs.of(alloc.job),
        alloc.task_group,
        alloc.name_index,
        alloc.node_id,
        alloc.node_name,
        alloc.eval_id,
        resources.of(alloc.resources),
        metrics.of(alloc.metrics),
        *(getattr(alloc, name) for name in _OWN_FIELDS),
    )


def load(chunks: Iterable[bytes]) -> State:
    """Read a State that `dump` wrote. Raises SnapshotUnreadable."""
    state = State()
    loader = _Loader(state)
    remaining = iter(chunks)
    try:
        head = msgspec.msgpack.decode(next(remaining), type=SnapshotHead)
        if head.format > SNAPSHOT_FORMAT:
            raise SnapshotUnreadable(
                f"the snapshot has content format {head.format}, this Yurt reads up to {SNAPSHOT_FORMAT}: "
                "restore it with the newer Yurt that wrote it"
            )
        for chunk in remaining:
            loader.read(chunk)
    except (msgspec.MsgspecError, StopIteration, KeyError, IndexError) as error:
        raise SnapshotUnreadable(f"the snapshot's content is damaged: {error!r}; use another one") from error
    state.index = head.index
    for table in _tables(state):
        table.index = head.table_indexes.get(table.name, 0)
    state.quota_uses.recount(state.namespaces, state.allocs)
    state.take_news()
    return state


class _Loader:
    """Puts sections into a fresh State, sharing what was shared."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._jobs: list[Job] = []
        self._resources: list[AllocatedResources] = []
        self._metrics: list[bytes] = []
        self._texts: dict[str, str] = {}
        self._readers: dict[str, tuple[msgspec.msgpack.Decoder[Any], Callable[[Any], None]]] = {
            "namespaces": (_rows_of(Namespace), self._namespaces),
            "node-pools": (_rows_of(NodePool), self._node_pools),
            "settings": (_rows_of(SchedulerConfiguration), self._settings),
            "nodes": (_rows_of(Node), self._nodes),
            "alloc-reports": (_rows_of(tuple[NodeID, int]), self._state.nodes.alloc_reports.update),
            "job-summaries": (_rows_of(JobSummary), self._summaries),
            "evals": (_rows_of(Evaluation), self._evals),
            "deployments": (_rows_of(Deployment), self._deployments),
            "autopilot": (_rows_of(AutopilotConfiguration), self._autopilot),
            "periodic-launches": (_rows_of(PeriodicLaunch), self._periodic_launches),
            "job-submissions": (_rows_of(JobSubmission), self._submissions),
            "scaling-policies": (_rows_of(ScalingPolicy), self._scaling_policies),
            "scaling-events": (_rows_of(JobScalingEvents), self._scaling_events),
            "services": (_rows_of(ServiceRegistration), self._services),
            **{name: (_rows_of(kind), put) for name, (kind, put) in acl_readers(state.acl).items()},
            "root-keys": (_rows_of(RootKey), self._root_keys),
            "job-templates": (_rows_of(JobTemplate), self._job_templates),
            "deliveries": (_rows_of(Delivery), self._deliveries),
            "variables": (_rows_of(Variable), self._variables),
            "quotas": (_rows_of(QuotaSpec), self._quotas),
            "host-volumes": (_rows_of(DynamicVolume), self._host_volumes),
            "volume-claims": (_rows_of(VolumeClaim), self._volume_claims),
            "shared-jobs": (_rows_of(Job), self._jobs.extend),
            "shared-resources": (_rows_of(AllocatedResources), self._resources.extend),
            "shared-metrics": (_rows_of(bytes), self._metrics.extend),
            "jobs": (_rows_of(_JobRow), self._job_rows),
            "allocs": (_rows_of(_AllocRow), self._alloc_rows),
        }

    def read(self, chunk: bytes) -> None:
        name, size = _section_name(chunk)
        decoder, put = self._readers[name]
        put(decoder.decode(memoryview(chunk)[size:]))

    def _namespaces(self, rows: list[Namespace]) -> None:
        for row in rows:
            self._state.namespaces.put(row.name, row, row.modify_index)

    def _node_pools(self, rows: list[NodePool]) -> None:
        for row in rows:
            self._state.node_pools.put(row.name, row, row.modify_index)

    def _settings(self, rows: list[SchedulerConfiguration]) -> None:
        for row in rows:
            self._state.settings.put(SCHEDULER_CONFIGURATION_KEY, row, row.modify_index)

    def _nodes(self, rows: list[Node]) -> None:
        for row in rows:
            self._state.nodes.put(row.id, row, row.modify_index)

    def _summaries(self, rows: list[JobSummary]) -> None:
        for row in rows:
            self._state.job_summaries.put(JobKey(row.namespace, row.job_id), row, row.modify_index)

    def _evals(self, rows: list[Evaluation]) -> None:
        for row in rows:
            self._state.evals.put(row.id, row, row.modify_index)

    def _deployments(self, rows: list[Deployment]) -> None:
        for row in rows:
            self._state.deployments.put(row.id, row, row.modify_index)

    def _autopilot(self, rows: list[AutopilotConfiguration]) -> None:
        for row in rows:
            self._state.autopilot.put(AUTOPILOT_CONFIGURATION_KEY, row, row.modify_index)

    def _periodic_launches(self, rows: list[PeriodicLaunch]) -> None:
        for row in rows:
            self._state.periodic_launches.put(JobKey(row.namespace, row.id), row, row.modify_index)

    def _submissions(self, rows: list[JobSubmission]) -> None:
        for row in rows:
            key = SubmissionKey(JobKey(row.namespace, row.job_id), row.version)
            self._state.submissions.put(key, row, row.job_modify_index)

    def _scaling_policies(self, rows: list[ScalingPolicy]) -> None:
        for row in rows:
            self._state.scaling_policies.put(row.id, row, row.modify_index)

    def _scaling_events(self, rows: list[JobScalingEvents]) -> None:
        for row in rows:
            self._state.scaling_events.put(JobKey(row.namespace, row.job_id), row, row.modify_index)

    def _services(self, rows: list[ServiceRegistration]) -> None:
        for row in rows:
            self._state.services.put(row.id, row, row.modify_index)

    def _root_keys(self, rows: list[RootKey]) -> None:
        for row in rows:
            self._state.root_keys.put(row.key_id, row, row.modify_index)

    def _job_templates(self, rows: list[JobTemplate]) -> None:
        for row in rows:
            self._state.job_templates.put(row.template_id, row, row.modify_index)

    def _deliveries(self, rows: list[Delivery]) -> None:
        for row in rows:
            self._state.deliveries.put(row.alloc_id, row, row.modify_index)

    def _variables(self, rows: list[Variable]) -> None:
        for row in rows:
            self._state.variables.put(row.key, row, row.modify_index)

    def _quotas(self, rows: list[QuotaSpec]) -> None:
        for row in rows:
            self._state.quotas.put(row.name, row, row.modify_index)

    def _host_volumes(self, rows: list[DynamicVolume]) -> None:
        for row in rows:
            self._state.host_volumes.put(row.id, row, row.modify_index)

    def _volume_claims(self, rows: list[VolumeClaim]) -> None:
        for row in rows:
            self._state.volume_claims.put(row.id, row, row.modify_index)

    def _job_rows(self, rows: list[_JobRow]) -> None:
        for row in rows:
            current = self._jobs[row.current]
            self._state.jobs.put(current.key, current, current.modify_index)
            self._state.jobs.versions[current.key] = tuple(self._jobs[number] for number in row.versions)
            self._state.scaling_policies.link(current)

    def _alloc_rows(self, rows: list[_AllocRow]) -> None:
        share = self._texts.setdefault
        allocs = self._state.allocs
        for row in rows:
            alloc = Allocation(
                id=row.id,
                job=self._jobs[row.job],
                task_group=share(row.task_group, row.task_group),
                name_index=row.name_index,
                node_id=share(row.node_id, row.node_id),  # type: ignore[arg-type]  # texts of NewTypes
                node_name=share(row.node_name, row.node_name),
                eval_id=share(row.eval_id, row.eval_id),  # type: ignore[arg-type]
                resources=self._resources[row.resources],
                metrics=self._metrics[row.metrics],
                desired_status=share(row.desired_status, row.desired_status),
                desired_description=share(row.desired_description, row.desired_description),
                desired_transition=row.desired_transition,
                client_status=share(row.client_status, row.client_status),
                client_description=share(row.client_description, row.client_description),
                task_states=row.task_states,
                alloc_states=row.alloc_states,
                previous_allocation=row.previous_allocation,
                next_allocation=row.next_allocation,
                followup_eval_id=share(row.followup_eval_id, row.followup_eval_id),
                deployment_id=share(row.deployment_id, row.deployment_id),  # type: ignore[arg-type]
                deployment_status=row.deployment_status,
                reschedule_tracker=row.reschedule_tracker,
                network_status=row.network_status,
                preempted_allocations=row.preempted_allocations,
                preempted_by_allocation=row.preempted_by_allocation,
                create_index=row.create_index,
                modify_index=row.modify_index,
                alloc_modify_index=row.alloc_modify_index,
                create_time=row.create_time,
                modify_time=row.modify_time,
            )
            allocs.put(alloc.id, alloc, alloc.modify_index)


def _rows_of(kind: Any) -> msgspec.msgpack.Decoder[Any]:  # noqa: ANN401 - any type that msgspec decodes
    return msgspec.msgpack.Decoder(list[kind])


def row_counts(state: State) -> dict[str, int]:
    """How many objects each table holds."""
    return {table.name: len(table) for table in _tables(state)}


def _tables(state: State) -> tuple[Any, ...]:
    return (
        state.nodes,
        state.jobs,
        state.job_summaries,
        state.allocs,
        state.evals,
        state.deployments,
        state.namespaces,
        state.node_pools,
        state.settings,
        state.autopilot,
        state.periodic_launches,
        state.submissions,
        state.scaling_policies,
        state.scaling_events,
        state.services,
        *acl_tables(state.acl),
        state.root_keys,
        state.job_templates,
        state.deliveries,
        state.variables,
        state.quotas,
        state.host_volumes,
        state.volume_claims,
    )
