"""Generated clusters and jobs."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from tests.scheduler.placement.builders import (
    a_constraint,
    a_group,
    a_job,
    a_node,
    a_spread,
    a_task,
    an_affinity,
    an_alloc,
    some_resources,
)
from yurt.model.alloc import CLIENT_COMPLETE, CLIENT_RUNNING, Allocation
from yurt.model.allocated import AllocatedCpu, AllocatedDevice, AllocatedPort, AllocatedResources
from yurt.model.job import Job
from yurt.model.node import DeviceAttribute, Node, NodeDevice, NodeDeviceResource
from yurt.model.resources import NetworkResource, Port, RequestedDevice
from yurt.model.task_parts import TaskLifecycle
from yurt.model.wire import NodeID
from yurt.scheduler.assign.cores import usable_cores
from yurt.scheduler.feasible.devices import node_devices
from yurt.state.use import Claim, use_of

RACKS = st.sampled_from(["r1", "r2", "r3", None])


@st.composite
def nodes(draw: st.DrawFn, number: int) -> Node:
    rack = draw(RACKS)
    gpus = draw(st.integers(0, 3))
    devices = [
        NodeDeviceResource(
            vendor="nvidia",
            type="gpu",
            name=draw(st.sampled_from(["t4", "k80"])),
            instances=tuple(
                NodeDevice(id=f"gpu{index}", healthy=draw(st.integers(0, 4)) > 0) for index in range(gpus)
            ),
            attributes={"memory": DeviceAttribute(int_value=draw(st.sampled_from([8, 16])), unit="GiB")},
        )
    ]
    return a_node(
        number,
        cpu=draw(st.sampled_from([1000, 2000, 4000])),
        memory=draw(st.sampled_from([1024, 4096])),
        disk=draw(st.sampled_from([1000, 10_000])),
        datacenter=draw(st.sampled_from(["dc1", "dc2"])),
        node_class=draw(st.sampled_from(["", "a"])),
        meta={"rack": rack} if rack is not None else {},
        devices=devices if gpus else [],
        cores=draw(st.sampled_from([0, 2, 4])),
        core_mhz=draw(st.sampled_from([500, 700])),
        max_allocs=draw(st.sampled_from([0, 0, 0, 3])),
        ports=draw(st.sampled_from([(20000, 20001), (20000, 20010)])),
        reserved_ports=draw(st.sampled_from(["", "22", "20000"])),
        countables=draw(st.sampled_from([{}, {"seat": 1}, {"seat": 3, "licence": 1}])),
        healthy=draw(st.integers(0, 9)) > 0,
    )


CONSTRAINTS = st.sampled_from(
    [
        a_constraint("${node.datacenter}", "=", "dc1"),
        a_constraint("${meta.rack}", "is_set"),
        a_constraint("${meta.rack}", "!=", "r1"),
        a_constraint("${node.unique.name}", "regexp", "[0-4]"),
    ]
)
DISTINCT = st.sampled_from(
    [
        a_constraint("", "distinct_hosts", "true"),
        a_constraint("", "distinct_hosts", "false"),
        a_constraint("${meta.rack}", "distinct_property", "2"),
        a_constraint("${node.datacenter}", "distinct_property", "3"),
    ]
)
AFFINITIES = st.sampled_from(
    [
        an_affinity("${node.datacenter}", "=", "dc1", 100),
        an_affinity("${meta.rack}", "=", "r2", -50),
        an_affinity("${node.class}", "=", "a", 30),
    ]
)
SPREADS = st.sampled_from(
    [
        a_spread("${meta.rack}", 100),
        a_spread("${node.datacenter}", 50),
        a_spread("${node.datacenter}", 70, dc1=80),
        a_spread("${node.datacenter}", 70, dc1=60, dc2=40),
        a_spread("${meta.rack}", 100, r1=50, r2=50, rest=0),
        a_spread("${meta.rack}", 30, r1=20, r2=30),
    ]
)
NETWORKS = st.sampled_from(
    [
        NetworkResource(dynamic_ports=(Port(label="a"),)),
        NetworkResource(dynamic_ports=(Port(label="a", to=-1), Port(label="b", host_network="default"))),
        NetworkResource(reserved_ports=(Port(label="s", value=8080),)),
        NetworkResource(reserved_ports=(Port(label="s", value=22),), dynamic_ports=(Port(label="a"),)),
        NetworkResource(reserved_ports=(Port(label="s", value=8080, ignore_collision=True),)),
    ]
)
DEVICES = st.sampled_from(
    [
        RequestedDevice(name="gpu", count=1),
        RequestedDevice(name="nvidia/gpu", count=2),
        RequestedDevice(
            name="gpu", count=1, constraints=(a_constraint("${device.attr.memory}", ">", "10 GiB"),)
        ),
        RequestedDevice(name="gpu", count=1, affinities=(an_affinity("${device.model}", "=", "t4", 80),)),
        RequestedDevice(name="seat", count=1),
        RequestedDevice(name="countable/seat", count=2),
    ]
)
LIFECYCLES = st.sampled_from(
    [
        None,
        TaskLifecycle(hook="prestart"),
        TaskLifecycle(hook="prestart", sidecar=True),
        TaskLifecycle(hook="poststart"),
        TaskLifecycle(hook="poststop"),
    ]
)


@st.composite
def jobs(draw: st.DrawFn, *, special: bool = True) -> Job:
    main = a_task(
        cpu=draw(st.sampled_from([100, 300, 700])),
        memory=draw(st.sampled_from([64, 300])),
        cores=draw(st.sampled_from([0, 0, 0, 1, 2])) if special else 0,
        devices=draw(st.lists(DEVICES, max_size=2)) if special and draw(st.integers(0, 3)) == 0 else [],
    )
    main = replace(
        main, resources=replace(main.resources, memory_max_mb=draw(st.sampled_from([0, 0, 5000, -1])))
    )
    side = replace(
        a_task("side", cpu=draw(st.sampled_from([50, 500])), memory=draw(st.sampled_from([32, 400]))),
        lifecycle=draw(LIFECYCLES),
    )
    group = a_group(
        "g",
        *([main, side] if draw(st.booleans()) else [main]),
        count=draw(st.integers(1, 12)),
        disk=draw(st.sampled_from([100, 600])),
        constraints=draw(st.lists(CONSTRAINTS, max_size=1)) + draw(st.lists(DISTINCT, max_size=1)),
        affinities=draw(st.lists(AFFINITIES, max_size=2)),
        spreads=draw(st.lists(SPREADS, max_size=2)),
        network=draw(st.none() | NETWORKS) if special else None,
    )
    return a_job(
        group,
        constraints=draw(st.lists(CONSTRAINTS, max_size=1)) + draw(st.lists(DISTINCT, max_size=1)),
        affinities=draw(st.lists(AFFINITIES, max_size=1)),
        spreads=draw(st.lists(SPREADS.filter(lambda s: s.attribute == "${meta.rack}"), max_size=1)),
        priority=draw(st.sampled_from([30, 50, 70])),
    )


@st.composite
def held_resources(draw: st.DrawFn, node: Node, given: set[tuple[NodeID, Claim]]) -> AllocatedResources:
    """What an allocation on a node has: at times a port, a core or a device, each given out once."""
    resources = some_resources(
        cpu=draw(st.sampled_from([100, 600])), memory=draw(st.sampled_from([64, 500])), disk=100
    )
    (name,) = resources.tasks
    task, shared = resources.tasks[name], resources.shared
    match draw(st.sampled_from(["", "", "port", "core", "device"])):
        case "port":
            value = draw(st.sampled_from([8080, 20000, 20001]))
            shared = replace(shared, ports=(AllocatedPort(label="p", value=value, host_ip=address_of(node)),))
        case "core" if cores := usable_cores(node):
            core = draw(st.sampled_from(sorted(cores)))
            task = replace(task, cpu=AllocatedCpu(cpu_shares=cores[core], reserved_cores=(core,)))
        case "device" if devices := [one for one in node_devices(node) if one.instances]:
            device = draw(st.sampled_from(devices))
            chosen = draw(st.sampled_from(device.instances or ()))
            kind = AllocatedDevice(
                vendor=device.vendor, type=device.type, name=device.name, device_ids=(chosen.id,)
            )
            task = replace(task, devices=(kind,))
    special = replace(resources, tasks={name: task}, shared=shared)
    claims = {(node.id, claim) for claim in use_of(special).claims}
    if given.intersection(claims):
        return resources
    given.update(claims)
    return special


def address_of(node: Node) -> str:
    (network,) = node.node_resources.node_networks or ()
    (address,) = network.addresses or ()
    return address.address


@st.composite
def clusters(draw: st.DrawFn, job: Job) -> tuple[list[Node], list[Allocation]]:
    """Nodes, and allocations of `job` and of others on them."""
    made = [draw(nodes(number)) for number in range(draw(st.integers(1, 7)))]
    allocs = []
    given: set[tuple[NodeID, Claim]] = set()
    for number in range(draw(st.integers(0, 8))):
        own = draw(st.booleans())
        node = draw(st.sampled_from(made))
        allocs.append(
            an_alloc(
                number,
                node,
                job=job if own else a_job(id="other", priority=draw(st.sampled_from([10, 40, 90]))),
                group=draw(st.sampled_from(["g", "h"])) if own else "g",
                resources=draw(held_resources(node, given)),
                client_status=draw(st.sampled_from([CLIENT_RUNNING, CLIENT_RUNNING, CLIENT_COMPLETE])),
                desired_status=draw(st.sampled_from(["run", "run", "run", "stop"])),
            )
        )
    return made, allocs
