"""A cluster of 10,000 nodes, and jobs for it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median
from time import process_time

from msgspec.structs import replace

from yurt.model.alloc import CLIENT_RUNNING, Allocation
from yurt.model.computed_class import computed_class
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.node import (
    NODE_READY,
    DriverInfo,
    Node,
    NodeCpu,
    NodeDisk,
    NodeMemory,
    NodeNetworkAddress,
    NodeNetworkResource,
    NodeResources,
)
from yurt.model.placement_rules import Affinity, Constraint, Spread
from yurt.model.policies import EphemeralDisk
from yurt.model.resources import NetworkResource, Resources
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.model.task import Task
from yurt.model.wire import AllocID, EvalID, JobID, NodeID
from yurt.scheduler.ask import ask_of
from yurt.scheduler.place import place_group
from yurt.scheduler.requests import PlacedGroup, PlaceRequest
from yurt.scheduler.view import View
from yurt.state.state import State

NODES = 10_000
ALLOCS_PER_NODE = 5
RACKS, DATACENTERS = 40, 3
CONFIGURATION = SchedulerConfiguration()
SMALL = Resources(cpu=100, memory_mb=128)


def a_cluster(
    nodes: int = NODES,
    *,
    sizes: tuple[int, ...] = (1, 2, 4),
    allocs_per_node: int = ALLOCS_PER_NODE,
) -> State:
    """Nodes of some sizes in racks and datacenters, each with about as many allocations of one job."""
    state = State()
    rng = Random(1)
    running = a_job("running")
    resources = ask_of(running.task_groups[0], oversubscribe=False).resources
    for number in range(nodes):
        node = _node(number, size=rng.choice(sizes))
        state.nodes.put(node.id, node, number)
    allocs = [
        Allocation(
            id=AllocID(f"alloc-{number}"),
            job=running,
            task_group="group",
            name_index=number,
            node_id=NodeID(f"node-{rng.randrange(nodes)}"),
            node_name="",
            eval_id=EvalID("eval"),
            resources=resources,
            client_status=CLIENT_RUNNING,
        )
        for number in range(allocs_per_node * nodes)
    ]
    state.allocs.put_new(allocs, nodes + 1)
    return state


def a_job(
    name: str,
    *,
    count: int = 1,
    spreads: tuple[Spread, ...] = (),
    constraints: tuple[Constraint, ...] = (),
    affinities: tuple[Affinity, ...] = (),
    network: NetworkResource | None = None,
    resources: Resources = SMALL,
) -> Job:
    """A job of one group with one task."""
    task = Task(name="task", driver="raw_exec", resources=resources)
    group = TaskGroup(
        name="group",
        count=count,
        tasks=(task,),
        ephemeral_disk=EphemeralDisk(size_mb=10),
        spreads=spreads or None,
        networks=(network,) if network is not None else None,
    )
    return Job(
        id=JobID(name),
        name=name,
        datacenters=("*",),
        constraints=constraints or None,
        affinities=affinities or None,
        task_groups=(group,),
        create_index=1,
    )


def place(view: View, job: Job, count: int, *, seed: int = 1) -> PlacedGroup:
    """Place `count` instances of a job's group."""
    wanted = [PlaceRequest(name_index=number) for number in range(count)]
    group = job.task_groups[0]
    return place_group(view, job, group, wanted, rng=Random(seed), configuration=CONFIGURATION)


def seconds(action: Callable[[], object], *, rounds: int = 7) -> float:
    """The median CPU time of an action: it computes only, so what else the machine does is not its cost.

    The first round, which fills what is kept, does not count.
    """
    times = []
    for number in range(rounds + 1):
        start = process_time()
        action()
        if number:
            times.append(process_time() - start)
    return median(times)


def _node(number: int, *, size: int) -> Node:
    address = NodeNetworkAddress(
        alias="default", address=f"10.{number // 65536}.{number // 256 % 256}.{number % 256}"
    )
    node = Node(
        id=NodeID(f"node-{number}"),
        name=f"node-{number}",
        status=NODE_READY,
        datacenter=f"dc{number % DATACENTERS}",
        attributes={"kernel.name": "linux", "arch": "amd64", "unique.hostname": f"node-{number}"},
        meta={"rack": f"rack-{number % RACKS}"},
        drivers={"raw_exec": DriverInfo(detected=True, healthy=True)},
        node_resources=NodeResources(
            cpu=NodeCpu(cpu_shares=4000 * size),
            memory=NodeMemory(memory_mb=8192 * size),
            disk=NodeDisk(disk_mb=100_000),
            node_networks=(NodeNetworkResource(mode="host", device="eth0", addresses=(address,)),),
        ),
    )
    return replace(node, computed_class=computed_class(node))
