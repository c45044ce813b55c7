"""The cluster as `top` shows it: nodes, jobs and allocations with what they reserve and use."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from yurt.sdk.types.allocs import AllocatedResources, AllocStub
from yurt.sdk.types.jobs import JobStub, JobSummary
from yurt.sdk.types.nodes import NodeStub, Resources

LIVE = frozenset({"pending", "running", "unknown"})


class ListedNode(NodeStub, frozen=True):
    """A node of a list that was asked for resources."""

    node_resources: Resources = Resources()
    reserved_resources: Resources = Resources()


class ListedJob(JobStub, frozen=True):
    """A job of a list, with its counts."""

    job_summary: JobSummary = JobSummary()


class ListedAlloc(AllocStub, frozen=True):
    """An allocation of a list that was asked for resources."""

    allocated_resources: AllocatedResources = AllocatedResources()


class NodeRow(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A node: what its allocations reserve of what it has."""

    id: str
    name: str
    pool: str
    status: str
    allocs: int
    cpu_reserved_mhz: int
    cpu_total_mhz: int
    memory_reserved_mb: int
    memory_total_mb: int


class JobRow(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A job and its allocations by state."""

    id: str
    namespace: str
    type: str
    status: str
    queued: int
    starting: int
    running: int
    failed: int


class AllocRow(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """An allocation that is live: what it reserves and, where that was asked for, what it uses."""

    id: str
    namespace: str
    job_id: str
    name: str
    node_id: str
    node_name: str
    status: str
    restarts: int
    create_time: int
    cpu_reserved_mhz: int
    memory_reserved_mb: int
    cpu_used_mhz: float | None = None
    memory_used_mb: float | None = None


class Picture(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """Everything at one moment. `is_truncated` when there are more allocations than were looked at."""

    time: int
    nodes: tuple[NodeRow, ...] = ()
    jobs: tuple[JobRow, ...] = ()
    allocations: tuple[AllocRow, ...] = ()
    is_truncated: bool = False


def picture(
    nodes: Sequence[ListedNode],
    jobs: Sequence[ListedJob],
    allocs: Sequence[ListedAlloc],
    *,
    now: int,
    is_truncated: bool = False,
) -> Picture:
    """Put the lists together, each in the order that shows what needs attention first."""
    live = [alloc for alloc in allocs if alloc.client_status in LIVE]
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for alloc in live:
        cpu, memory = _reserved(alloc)
        node = sums[alloc.node_id]
        node[0] += 1
        node[1] += cpu
        node[2] += memory
    return Picture(
        time=now,
        nodes=tuple(sorted((_node(node, sums[node.id]) for node in nodes), key=lambda row: row.name)),
        jobs=tuple(sorted(map(_job, jobs), key=lambda row: (row.status == "dead", row.id))),
        allocations=tuple(_allocs(live)),
        is_truncated=is_truncated,
    )


def _node(node: ListedNode, sums: Sequence[int]) -> NodeRow:
    status = node.status
    if node.drain:
        status += ", draining"
    elif node.scheduling_eligibility == "ineligible":
        status += ", ineligible"
    return NodeRow(
        id=node.id,
        name=node.name,
        pool=node.node_pool,
        status=status,
        allocs=sums[0],
        cpu_reserved_mhz=sums[1],
        cpu_total_mhz=node.node_resources.cpu.cpu_shares - node.reserved_resources.cpu.cpu_shares,
        memory_reserved_mb=sums[2],
        memory_total_mb=node.node_resources.memory.memory_mb - node.reserved_resources.memory.memory_mb,
    )


def _job(job: ListedJob) -> JobRow:
    groups = job.job_summary.summary.values()
    kind = f"{job.type}/periodic" if job.periodic else job.type
    return JobRow(
        id=job.id,
        namespace=job.namespace,
        type=f"{job.type}/parameterized" if job.parameterized_job else kind,
        status=f"{job.status} (stopped)" if job.stop else job.status,
        queued=sum(group.queued for group in groups),
        starting=sum(group.starting for group in groups),
        running=sum(group.running for group in groups),
        failed=sum(group.failed for group in groups),
    )


def _allocs(live: Iterable[ListedAlloc]) -> Iterable[AllocRow]:
    for alloc in sorted(live, key=lambda alloc: (alloc.job_id, alloc.name, alloc.create_index)):
        cpu, memory = _reserved(alloc)
        yield AllocRow(
            id=alloc.id,
            namespace=alloc.namespace,
            job_id=alloc.job_id,
            name=alloc.name,
            node_id=alloc.node_id,
            node_name=alloc.node_name,
            status=alloc.client_status,
            restarts=sum(state.restarts for state in alloc.task_states.values()),
            create_time=alloc.create_time,
            cpu_reserved_mhz=cpu,
            memory_reserved_mb=memory,
        )


def _reserved(alloc: ListedAlloc) -> tuple[int, int]:
    tasks = alloc.allocated_resources.tasks.values()
    return sum(task.cpu.cpu_shares for task in tasks), sum(task.memory.memory_mb for task in tasks)
