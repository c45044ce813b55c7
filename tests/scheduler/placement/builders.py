"""Builders of nodes, jobs and states for tests of placing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from yurt.model.alloc import CLIENT_RUNNING, Allocation
from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedMemory,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.computed_class import computed_class
from yurt.model.group import TaskGroup
from yurt.model.job import SERVICE, Job
from yurt.model.node import (
    NODE_READY,
    Core,
    DriverInfo,
    Node,
    NodeCpu,
    NodeDeviceResource,
    NodeDisk,
    NodeMemory,
    NodeNetworkAddress,
    NodeNetworkResource,
    NodeProcessors,
    NodeReservedResources,
    NodeResources,
    ReservedNetworks,
    Topology,
)
from yurt.model.placement_rules import Affinity, Constraint, Spread, SpreadTarget
from yurt.model.policies import EphemeralDisk
from yurt.model.resources import NetworkResource, RequestedDevice, Resources
from yurt.model.task import Task
from yurt.model.wire import AllocID, EvalID, JobID, NodeID
from yurt.scheduler.requests import PlaceRequest
from yurt.state.state import State

DRIVER = "raw_exec"


def a_node(
    number: int,
    *,
    cpu: int = 4000,
    memory: int = 8192,
    disk: int = 100_000,
    datacenter: str = "dc1",
    node_class: str = "",
    node_pool: str = "default",
    meta: Mapping[str, str] | None = None,
    attributes: Mapping[str, str] | None = None,
    devices: Sequence[NodeDeviceResource] = (),
    cores: int = 0,
    core_mhz: int = 1000,
    reserved_ports: str = "",
    ports: tuple[int, int] = (20000, 32000),
    max_allocs: int = 0,
    countables: Mapping[str, int] | None = None,
    healthy: bool = True,
) -> Node:
    """A ready node whose id and address come from its number."""
    node = Node(
        id=NodeID(f"node-{number}"),
        name=f"n{number}",
        datacenter=datacenter,
        node_class=node_class,
        node_pool=node_pool,
        status=NODE_READY,
        meta=dict(meta or {}),
        attributes={"kernel.name": "linux", "unique.hostname": f"n{number}", **(attributes or {})},
        drivers={DRIVER: DriverInfo(detected=True, healthy=healthy)},
        node_max_allocs=max_allocs,
        countables=dict(countables) if countables else None,
        node_resources=NodeResources(
            cpu=NodeCpu(
                cpu_shares=cpu,
                total_cpu_cores=cores,
                reservable_cpu_cores=tuple(range(cores)) if cores else None,
            ),
            processors=NodeProcessors(
                topology=Topology(cores=tuple(Core(id=i, base_speed=core_mhz) for i in range(cores)))
            ),
            memory=NodeMemory(memory_mb=memory),
            disk=NodeDisk(disk_mb=disk),
            devices=tuple(devices) or None,
            min_dynamic_port=ports[0],
            max_dynamic_port=ports[1],
            node_networks=(
                NodeNetworkResource(
                    mode="host",
                    device="eth0",
                    addresses=(
                        NodeNetworkAddress(alias="default", address=f"10.0.{number // 250}.{number % 250}"),
                    ),
                ),
            ),
            networks=(
                NetworkResource(
                    mode="host", device="eth0", ip=f"10.0.{number // 250}.{number % 250}", mbits=1000
                ),
            ),
        ),
        reserved_resources=NodeReservedResources(
            networks=ReservedNetworks(reserved_host_ports=reserved_ports)
        ),
    )
    return with_class(node)


def with_class(node: Node) -> Node:
    """A node with its computed class, as registering leaves it."""
    return replace(node, computed_class=computed_class(node))


def a_task(
    name: str = "t",
    *,
    cpu: int = 500,
    memory: int = 256,
    cores: int = 0,
    devices: Sequence[RequestedDevice] = (),
    constraints: Sequence[Constraint] = (),
    affinities: Sequence[Affinity] = (),
    driver: str = DRIVER,
) -> Task:
    """A task that asks for `cpu` and `memory`."""
    return Task(
        name=name,
        driver=driver,
        resources=Resources(cpu=cpu, memory_mb=memory, cores=cores, devices=tuple(devices) or None),
        constraints=tuple(constraints) or None,
        affinities=tuple(affinities) or None,
    )


def a_group(
    name: str = "g",
    *tasks: Task,
    count: int = 1,
    disk: int = 300,
    constraints: Sequence[Constraint] = (),
    affinities: Sequence[Affinity] = (),
    spreads: Sequence[Spread] = (),
    network: NetworkResource | None = None,
) -> TaskGroup:
    """A group of `tasks`, or of one plain task."""
    return TaskGroup(
        name=name,
        count=count,
        tasks=tasks or (a_task(),),
        ephemeral_disk=EphemeralDisk(size_mb=disk),
        constraints=tuple(constraints) or None,
        affinities=tuple(affinities) or None,
        spreads=tuple(spreads) or None,
        networks=(network,) if network is not None else None,
    )


def a_job(
    *groups: TaskGroup,
    id: str = "job",
    type: str = SERVICE,
    priority: int = 50,
    constraints: Sequence[Constraint] = (),
    affinities: Sequence[Affinity] = (),
    spreads: Sequence[Spread] = (),
    datacenters: tuple[str, ...] = ("*",),
    node_pool: str = "default",
) -> Job:
    """A job of `groups`, or of one plain group."""
    return Job(
        id=JobID(id),
        name=id,
        type=type,
        priority=priority,
        datacenters=datacenters,
        node_pool=node_pool,
        constraints=tuple(constraints) or None,
        affinities=tuple(affinities) or None,
        spreads=tuple(spreads) or None,
        task_groups=groups or (a_group(),),
        create_index=1,
    )


def a_constraint(left: str, operand: str, right: str = "") -> Constraint:
    """A constraint."""
    return Constraint(ltarget=left, operand=operand, rtarget=right)


def an_affinity(left: str, operand: str, right: str, weight: int) -> Affinity:
    """An affinity."""
    return Affinity(ltarget=left, operand=operand, rtarget=right, weight=weight)


def a_spread(attribute: str, weight: int = 100, **targets: int) -> Spread:
    """A spread over an attribute, even unless `targets` say otherwise; `rest` is the target `*`."""
    return Spread(
        attribute=attribute,
        weight=weight,
        spread_target=tuple(
            SpreadTarget(value="*" if value == "rest" else value, percent=percent)
            for value, percent in targets.items()
        )
        or None,
    )


def some_resources(
    *, cpu: int = 500, memory: int = 256, disk: int = 300, task: str = "t"
) -> AllocatedResources:
    """What an allocation of one task was given."""
    return AllocatedResources(
        tasks={
            task: AllocatedTaskResources(
                cpu=AllocatedCpu(cpu_shares=cpu), memory=AllocatedMemory(memory_mb=memory)
            )
        },
        task_lifecycles={task: None},
        shared=AllocatedShared(disk_mb=disk),
    )


def an_alloc(
    number: int,
    node: Node,
    *,
    job: Job | None = None,
    group: str = "g",
    resources: AllocatedResources | None = None,
    client_status: str = CLIENT_RUNNING,
    desired_status: str = "run",
) -> Allocation:
    """A running allocation whose id comes from its number."""
    return Allocation(
        id=AllocID(f"alloc-{number}"),
        job=job or a_job(id="other"),
        task_group=group,
        name_index=number,
        node_id=node.id,
        node_name=node.name,
        eval_id=EvalID("eval"),
        resources=resources or some_resources(),
        client_status=client_status,
        desired_status=desired_status,
    )


def a_state(nodes: Sequence[Node], allocs: Sequence[Allocation] = ()) -> State:
    """State with nodes and allocations."""
    state = State()
    for index, node in enumerate(nodes, start=1):
        state.nodes.put(node.id, node, index)
    for index, alloc in enumerate(allocs, start=len(nodes) + 1):
        state.allocs.put(alloc.id, alloc, index)
        state.index = index
    return state


def requests(count: int, *, first: int = 0) -> list[PlaceRequest]:
    """Requests for `count` plain instances."""
    return [PlaceRequest(name_index=first + index) for index in range(count)]
