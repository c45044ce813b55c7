"""Objects and entries for tests of State, and a State to apply them to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from yurt.model.alloc import CLIENT_RUNNING, Allocation, AllocDeploymentStatus
from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedDevice,
    AllocatedMemory,
    AllocatedPort,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.deployment import Deployment, DeploymentState
from yurt.model.evaluation import EVAL_PENDING, Evaluation
from yurt.model.group import TaskGroup
from yurt.model.job import SERVICE, Job, JobKey
from yurt.model.node import NODE_READY, DriverInfo, Node, NodeCpu, NodeDisk, NodeMemory, NodeResources
from yurt.model.plan import JobRef, PlacementDetail, Placements, PlanChanges, StopAllocs
from yurt.model.resources import Resources
from yurt.model.task import Task
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID, DeploymentID, EvalID, JobID, Nanoseconds, NodeID
from yurt.state import entries
from yurt.state.apply import Outcome, apply
from yurt.state.state import State

START_NS = 1_700_000_000 * SECOND_NS
DEFAULT = "default"


def a_node(number: int = 1, **changes: Any) -> Node:
    """A ready node with 4000 MHz, 8 GiB and four cores."""
    node = Node(
        id=node_id(number),
        secret_id=f"secret-{number}",
        name=f"n{number}",
        status=NODE_READY,
        attributes={"kernel.name": "linux", "unique.hostname": f"n{number}"},
        drivers={"raw_exec": DriverInfo(detected=True, healthy=True)},
        node_resources=NodeResources(
            cpu=NodeCpu(cpu_shares=4000, total_cpu_cores=4, reservable_cpu_cores=(0, 1, 2, 3)),
            memory=NodeMemory(memory_mb=8192),
            disk=NodeDisk(disk_mb=100_000),
        ),
    )
    return replace(node, **changes)


def node_id(number: int) -> NodeID:
    """The id of a test node."""
    return NodeID(f"00000000-0000-4000-8000-{number:012d}")


def a_group(name: str = "g", count: int = 1, **changes: Any) -> TaskGroup:
    """A group of one task."""
    tasks = (Task(name="t", driver="raw_exec", resources=Resources(cpu=500, memory_mb=256)),)
    return replace(TaskGroup(name=name, count=count, tasks=tasks), **changes)


def a_job(job_id: str = "web", *groups: TaskGroup, **changes: Any) -> Job:
    """A service job of `groups`, or of one plain group."""
    job = Job(
        id=JobID(job_id), name=job_id, type=SERVICE, datacenters=("*",), task_groups=groups or (a_group(),)
    )
    return replace(job, **changes)


def key(job_id: str = "web") -> JobKey:
    """The key of a job in the default namespace."""
    return JobKey(DEFAULT, JobID(job_id))


def an_eval(eval_id: str, job_id: str = "web", *, status: str = EVAL_PENDING, **changes: Any) -> Evaluation:
    """An evaluation of a job in the default namespace."""
    evaluation = Evaluation(
        id=EvalID(eval_id),
        namespace=DEFAULT,
        priority=50,
        type=SERVICE,
        triggered_by="job-register",
        job_id=JobID(job_id),
        status=status,
        create_time=START_NS,
        modify_time=START_NS,
    )
    return replace(evaluation, **changes)


def some_resources(
    *,
    cpu: int = 500,
    memory: int = 256,
    ports: Sequence[int] = (),
    cores: Sequence[int] = (),
    devices: Sequence[str] = (),
) -> AllocatedResources:
    """What an allocation of one task was given."""
    given = (AllocatedDevice(vendor="acme", type="gpu", name="x", device_ids=tuple(devices)),)
    return AllocatedResources(
        tasks={
            "t": AllocatedTaskResources(
                cpu=AllocatedCpu(cpu_shares=cpu, reserved_cores=tuple(cores) or None),
                memory=AllocatedMemory(memory_mb=memory),
                devices=given if devices else None,
            )
        },
        task_lifecycles={"t": None},
        shared=AllocatedShared(
            disk_mb=300,
            ports=tuple(AllocatedPort(label="p", value=port, host_ip="10.0.0.1") for port in ports) or None,
        ),
    )


def a_deployment(deployment_id: str, job: Job, **group: Any) -> Deployment:
    """A running deployment of a stored job, with the same state for each group."""
    return Deployment(
        id=DeploymentID(deployment_id),
        namespace=job.namespace,
        job_id=job.id,
        job_version=job.version,
        job_modify_index=job.modify_index,
        job_spec_modify_index=job.job_modify_index,
        job_create_index=job.create_index,
        task_groups={one.name: DeploymentState(desired_total=one.count, **group) for one in job.task_groups},
    )


class Cluster:
    """A State, and the entries that made it, one a second."""

    def __init__(self) -> None:
        self.state = State()
        self.encoded: list[bytes] = []

    @property
    def now(self) -> Nanoseconds:
        """The time of the next entry."""
        return START_NS + (self.state.index + 1) * SECOND_NS

    def apply(self, entry: entries.Entry) -> Outcome:
        """Apply one entry at the next index."""
        self.encoded.append(entries.encode_entry(entry))
        return apply(self.state, self.state.index + 1, entry)

    def add_node(self, node: Node | None = None, **more: Any) -> Node:
        """Register a node."""
        node = node or a_node()
        self.apply(entries.RegisterNode(at=self.now, node=node, **more))
        return self.state.nodes[node.id]

    def add_job(self, job: Job | None = None, *evals: Evaluation, **more: Any) -> Job:
        """Register a job; gives what is stored."""
        job = job or a_job()
        self.apply(entries.RegisterJob(at=self.now, job=job, evals=evals, **more))
        return self.state.jobs[job.key]

    def add_evals(self, *evals: Evaluation) -> None:
        """Store evaluations."""
        self.apply(entries.UpsertEvals(at=self.now, evals=evals))

    def commit(self, eval_id: str = "planner", **changes: Any) -> Outcome:
        """Commit a plan."""
        plan = PlanChanges(**changes)
        return self.apply(entries.CommitPlan(at=self.now, eval_id=EvalID(eval_id), changes=plan))

    def place(
        self,
        job: Job,
        *alloc_ids: str,
        node: Node,
        group: str = "g",
        deployment_id: str = "",
        details: Mapping[int, PlacementDetail] | None = None,
    ) -> list[Allocation]:
        """Place allocations of a stored job on one node."""
        self.commit(
            placements=(
                placements_of(
                    job, *alloc_ids, node=node, group=group, deployment_id=deployment_id, details=details
                ),
            )
        )
        return [self.state.allocs[AllocID(alloc_id)] for alloc_id in alloc_ids]

    def stop(self, *alloc_ids: str, client_status: str = "") -> None:
        """Stop allocations."""
        ids = [AllocID(alloc_id) for alloc_id in alloc_ids]
        self.commit(stops=(StopAllocs(ids=ids, description="no longer needed", client_status=client_status),))

    def report(
        self,
        alloc_id: str,
        client_status: str = CLIENT_RUNNING,
        *,
        healthy: bool | None = None,
        evals: Sequence[Evaluation] = (),
        **more: Any,
    ) -> Allocation:
        """Report one allocation's status, and its health unless that is None."""
        status = AllocDeploymentStatus(healthy=healthy) if healthy is not None else None
        report = entries.AllocReport(
            id=AllocID(alloc_id), client_status=client_status, deployment_status=status, **more
        )
        self.apply(entries.ReportAllocs(at=self.now, reports=(report,), evals=tuple(evals)))
        return self.state.allocs[AllocID(alloc_id)]


def placements_of(
    job: Job,
    *alloc_ids: str,
    node: Node,
    group: str = "g",
    deployment_id: str = "",
    details: Mapping[int, PlacementDetail] | None = None,
    resources: AllocatedResources | None = None,
) -> Placements:
    """New allocations of a stored job on one node."""
    return Placements(
        job=ref(job),
        task_group=group,
        eval_id=EvalID("planner"),
        resources=resources or some_resources(),
        ids=[AllocID(alloc_id) for alloc_id in alloc_ids],
        name_indexes=list(range(len(alloc_ids))),
        node_ids=[node.id] * len(alloc_ids),
        deployment_id=DeploymentID(deployment_id),
        details=dict(details or {}),
    )


def ref(job: Job) -> JobRef:
    """A reference to a stored job version."""
    return JobRef(job.namespace, job.id, job.create_index, job.version)
