"""Ports, devices, cores and memory that placements get."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from tests.scheduler.placement.builders import (
    a_constraint,
    a_group,
    a_job,
    a_node,
    a_state,
    a_task,
    an_affinity,
    requests,
)
from yurt.model.alloc_metric import AllocMetric
from yurt.model.allocated import AllocatedDevice, AllocatedPort
from yurt.model.group import TaskGroup
from yurt.model.node import (
    Core,
    Node,
    NodeDevice,
    NodeDeviceResource,
    NodeNetworkAddress,
    NodeNetworkResource,
    NodeProcessors,
    NodeReservedResources,
    ReservedCpu,
    Topology,
)
from yurt.model.resources import NetworkResource, Port, RequestedDevice, Resources
from yurt.model.scheduler_configuration import SchedulerConfiguration
from yurt.scheduler.place import place_group
from yurt.scheduler.requests import PlacedGroup
from yurt.scheduler.view import View


def place(
    nodes: list[Node],
    group: TaskGroup,
    count: int = 1,
    *,
    configuration: SchedulerConfiguration | None = None,
) -> PlacedGroup:
    job = a_job(group)
    return place_group(
        View(a_state(nodes)),
        job,
        group,
        requests(count),
        rng=Random(7),
        configuration=configuration or SchedulerConfiguration(),
    )


def ports(result: PlacedGroup) -> list[tuple[AllocatedPort, ...]]:
    return [one.resources.shared.ports or () for one in result.placed]


def dimension(result: PlacedGroup) -> dict[str, int] | None:
    assert isinstance(result.failure, AllocMetric)
    return result.failure.dimension_exhausted


def dynamic(*labels: str, to: int = 0) -> NetworkResource:
    return NetworkResource(dynamic_ports=tuple(Port(label=label, to=to) for label in labels))


def static(value: int, *, ignore_collision: bool = False) -> NetworkResource:
    port = Port(label="http", value=value, ignore_collision=ignore_collision)
    return NetworkResource(reserved_ports=(port,))


def test_dynamic_ports_come_from_the_nodes_range_until_it_is_used_up() -> None:
    node = a_node(0, ports=(30000, 30003))
    result = place([node], a_group(network=dynamic("a", "b", to=-1)), 3)
    given = [port for some in ports(result) for port in some]
    assert sorted(port.value for port in given) == [30000, 30001, 30002, 30003]
    assert all(port.to == port.value and port.host_ip == "10.0.0.0" for port in given)
    assert dimension(result) == {"network: dynamic port selection failed": 1}


def test_the_network_of_an_allocation_names_its_ports() -> None:
    network = NetworkResource(
        mode="host",
        reserved_ports=(Port(label="s", value=8080),),
        dynamic_ports=(Port(label="d", to=80),),
    )
    (one,) = place([a_node(0, ports=(30000, 30000))], a_group(network=network)).placed
    assert one.resources.shared.networks == (
        NetworkResource(
            mode="host",
            ip="10.0.0.0",
            reserved_ports=(Port(label="s", value=8080, host_network="default"),),
            dynamic_ports=(Port(label="d", value=30000, to=80, host_network="default"),),
        ),
    )


def test_static_ports_go_once_to_each_node() -> None:
    result = place([a_node(0), a_node(1)], a_group(network=static(8080)), 3)
    assert sorted(one.node_id for one in result.placed) == ["node-0", "node-1"]
    assert dimension(result) == {"network: reserved port collision http=8080": 2}


def test_a_taken_port_is_reported_before_a_lack_of_room() -> None:
    full = a_task(cpu=4000)
    result = place([a_node(0, cpu=4000)], a_group("g", full, network=static(8080)), 2)
    assert len(result.placed) == 1
    assert dimension(result) == {"network: reserved port collision http=8080": 1}
    reserved = a_node(0, cpu=100, reserved_ports="8080")
    assert dimension(place([reserved], a_group("g", full, network=static(8080)))) == {
        "network: reserved port collision http=8080": 1
    }
    assert dimension(place([a_node(0, cpu=100)], a_group("g", full, network=static(8080)))) == {"cpu": 1}
    no_ports = a_node(0, cpu=100, ports=(30000, 30000))
    assert dimension(place([no_ports], a_group("g", full, network=dynamic("a", "b")))) == {
        "network: dynamic port selection failed": 1
    }


def test_ports_that_ignore_collisions_are_shared() -> None:
    result = place([a_node(0)], a_group(network=static(8080, ignore_collision=True)), 3)
    assert len(result.placed) == 3


def test_reserved_ports_of_the_node_are_not_given() -> None:
    node = a_node(0, reserved_ports="22,9000-9010")
    assert dimension(place([node], a_group(network=static(9005)))) == {
        "network: reserved port collision http=9005": 1
    }
    broken = a_node(0, reserved_ports="22-")
    assert dimension(place([broken], a_group(network=static(9005)))) == {"network: invalid node": 1}


def test_ports_follow_their_host_network() -> None:
    node = a_node(0)
    lan = NodeNetworkResource(
        mode="host",
        device="eth1",
        addresses=(
            NodeNetworkAddress(alias="lan", address="192.168.0.1", reserved_ports="80"),
            NodeNetworkAddress(alias="lan", address="192.168.0.2"),
        ),
    )
    resources = replace(node.node_resources, node_networks=(*(node.node_resources.node_networks or ()), lan))
    node = replace(node, node_resources=resources)
    network = NetworkResource(
        reserved_ports=(Port(label="a", value=80, host_network="lan"), Port(label="b", value=81))
    )
    ((first, second),) = ports(place([node], a_group(network=network)))
    assert (first.host_ip, second.host_ip) == ("192.168.0.2", "10.0.0.0")


def test_a_node_without_the_default_network_is_exhausted() -> None:
    node = a_node(0)
    node = replace(node, node_resources=replace(node.node_resources, node_networks=()))
    assert dimension(place([node], a_group(network=dynamic("a")))) == {
        "network: no addresses available for default network": 1
    }


def test_ample_ports_are_given_in_bulk() -> None:
    nodes = [a_node(number) for number in range(30)]
    result = place(nodes, a_group(network=dynamic("a"), count=100), 100)
    given = [(one.node_id, port.value) for one, (port,) in zip(result.placed, ports(result), strict=True)]
    assert len(set(given)) == 100


def test_bulk_goes_around_nodes_that_cannot_give_ports() -> None:
    nodes = [a_node(number) for number in range(12)]
    for number in range(0, 12, 3):
        resources = replace(nodes[number].node_resources, node_networks=())
        nodes[number] = replace(nodes[number], node_resources=resources)
    for network in (dynamic("a"), static(8080)):
        result = place(nodes, a_group("g", a_task(cpu=50), network=network, count=100), 100)
        used = {one.node_id for one in result.placed}
        assert used == {node.id for number, node in enumerate(nodes) if number % 3}
        if network.reserved_ports:
            assert dimension(result) == {
                "network: no addresses available for default network": 4,
                "network: reserved port collision http=8080": 8,
            }


def gpus(name: str, count: int) -> NodeDeviceResource:
    return NodeDeviceResource(
        vendor="nvidia",
        type="gpu",
        name=name,
        instances=tuple(NodeDevice(id=f"{name}-{number}", healthy=True) for number in range(count)),
    )


def devices(result: PlacedGroup) -> list[AllocatedDevice]:
    return [
        device
        for one in result.placed
        for task in one.resources.tasks.values()
        for device in task.devices or ()
    ]


def test_devices_are_given_whole_from_one_group_and_once() -> None:
    node = a_node(0, devices=[gpus("a", 2), gpus("b", 1)])
    group = a_group("g", a_task(devices=[RequestedDevice(name="gpu", count=2)]))
    result = place([node], group, 2)
    assert [device.device_ids for device in devices(result)] == [("a-0", "a-1")]
    assert dimension(result) == {"devices: no devices match request": 1}


def test_three_devices_over_two_groups_pass_the_check_but_cannot_be_given() -> None:
    node = a_node(0, devices=[gpus("a", 2), gpus("b", 1)])
    group = a_group("g", a_task(devices=[RequestedDevice(name="gpu", count=3)]))
    result = place([node], group)
    assert result.failure is not None
    assert (result.failure.nodes_filtered, result.failure.nodes_exhausted) == (0, 1)


def test_device_affinities_choose_group_and_node() -> None:
    nodes = [a_node(0, devices=[gpus("a", 1)]), a_node(1, devices=[gpus("a", 1), gpus("b", 1)])]
    request = RequestedDevice(name="gpu", count=1, affinities=(an_affinity("${device.model}", "=", "b", 90),))
    (device,) = devices(place(nodes, a_group("g", a_task(devices=[request]))))
    assert device.name == "b"


def test_device_constraints_on_ids_choose_instances() -> None:
    node = a_node(0, devices=[gpus("a", 3)])
    request = RequestedDevice(
        name="gpu", count=1, constraints=(a_constraint("${device.ids}", "set_contains", "a-2"),)
    )
    (device,) = devices(place([node], a_group("g", a_task(devices=[request]))))
    assert device.device_ids == ("a-2",)


def test_countable_units_are_used_up() -> None:
    node = a_node(0, countables={"licence": 3})
    group = a_group("g", a_task(devices=[RequestedDevice(name="licence", count=2)]))
    result = place([node], group, 2)
    assert [device.device_ids for device in devices(result)] == [("0", "1")]


def test_cores_are_the_lowest_free_ones_and_count_as_their_speed() -> None:
    node = a_node(0, cpu=4000, cores=4, core_mhz=1000)
    group = a_group("g", a_task(cores=1, cpu=9999), a_task("u", cores=2))
    (one,) = place([node], group).placed
    assert one.resources.tasks["t"].cpu.reserved_cores == (0,)
    assert one.resources.tasks["u"].cpu.reserved_cores == (1, 2)
    assert one.resources.tasks["u"].cpu.cpu_shares == 2000
    assert dimension(place([node], group, 2)) == {"cores": 1}


def test_cores_of_different_speed_and_reserved_ones() -> None:
    node = a_node(0, cpu=9000, cores=4)
    cores = tuple(Core(id=number, base_speed=1000 * (number + 1)) for number in range(4))
    node = replace(
        node,
        node_resources=replace(
            node.node_resources, processors=NodeProcessors(topology=Topology(cores=cores))
        ),
        reserved_resources=NodeReservedResources(cpu=ReservedCpu(reserved_cpu_cores=(0,))),
    )
    result = place([node], a_group("g", a_task(cores=1)), 3)
    given = [one.resources.tasks["t"].cpu for one in result.placed]
    assert [(cpu.reserved_cores, cpu.cpu_shares) for cpu in given] == [
        ((1,), 2000),
        ((2,), 3000),
        ((3,), 4000),
    ]


@pytest.mark.parametrize(
    ("asked", "oversubscribe", "recorded"), [(900, False, 0), (900, True, 950), (-1, True, -1), (0, True, 0)]
)
def test_memory_maximum_is_recorded_only_with_oversubscription(
    asked: int, oversubscribe: bool, recorded: int
) -> None:
    task = replace(a_task(), resources=Resources(cpu=100, memory_mb=300, memory_max_mb=asked, secrets_mb=50))
    configuration = SchedulerConfiguration(memory_oversubscription_enabled=oversubscribe)
    (one,) = place([a_node(0)], a_group("g", task), configuration=configuration).placed
    memory = one.resources.tasks["t"].memory
    assert (memory.memory_mb, memory.memory_max_mb) == (350, recorded)


def test_task_networks_share_bandwidth() -> None:
    wants = Resources(
        cpu=100, memory_mb=10, networks=(NetworkResource(mbits=600, dynamic_ports=(Port(label="a"),)),)
    )
    result = place([a_node(0)], a_group("g", replace(a_task(), resources=wants)), 2)
    (one,) = result.placed
    (network,) = one.resources.tasks["t"].networks or ()
    assert (network.device, network.ip, network.mbits) == ("eth0", "10.0.0.0", 600)
    assert dimension(result) == {"network: bandwidth exceeded": 1}
