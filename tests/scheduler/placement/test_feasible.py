"""Which nodes a group may run on, and how the others are reported."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.scheduler.placement.builders import (
    a_constraint,
    a_group,
    a_job,
    a_node,
    a_state,
    a_task,
    with_class,
)
from yurt.model.group import TaskGroup
from yurt.model.host_volume import DynamicVolume, VolumeCapability
from yurt.model.job import Job
from yurt.model.node import (
    NODE_DOWN,
    DeviceAttribute,
    DriverInfo,
    HostVolume,
    Node,
    NodeDevice,
    NodeDeviceResource,
)
from yurt.model.resources import NetworkResource, Port, RequestedDevice
from yurt.model.volume import VolumeRequest
from yurt.scheduler.feasible.device_attributes import device_holds, parse_literal
from yurt.scheduler.feasible.group import Feasibility, feasibility


def judge(nodes: list[Node], job: Job, group: TaskGroup | None = None) -> Feasibility:
    return feasibility(a_state(nodes).columns, job, group or job.task_groups[0])


def feasible(nodes: list[Node], job: Job) -> list[str]:
    return [nodes[slot].name for slot in judge(nodes, job).slots]


def test_base_set_is_ready_nodes_of_pool_and_datacenters() -> None:
    nodes = [
        a_node(0, datacenter="eu-1"),
        a_node(1, datacenter="eu-2", node_pool="gpu"),
        a_node(2, datacenter="us-1"),
        replace(a_node(3, datacenter="eu-1"), status=NODE_DOWN),
    ]
    job = a_job(datacenters=("eu-*",))
    assert feasible(nodes, job) == ["n0"]
    everywhere = judge(nodes, a_job(node_pool="all"))
    assert everywhere.base.nodes_available == {"eu-1": 1, "eu-2": 1, "us-1": 1}
    assert everywhere.base.nodes == 3


@pytest.mark.parametrize(
    ("glob", "datacenter", "matches"),
    [
        ("*", "", True),
        ("dc*", "dc1", True),
        ("*c1", "dc1", True),
        ("d.1", "dc1", False),
        ("DC1", "dc1", False),
    ],
)
def test_datacenters_match_by_star_only(glob: str, datacenter: str, matches: bool) -> None:
    nodes = [a_node(0, datacenter=datacenter)]
    assert bool(feasible(nodes, a_job(datacenters=(glob,)))) is matches


def test_constraints_compare_targets_with_literals_and_each_other() -> None:
    nodes = [
        a_node(0, meta={"rack": "r1", "twin": "r1"}),
        a_node(1, meta={"rack": "r1", "twin": "r2"}),
        a_node(2),
    ]
    assert feasible(nodes, a_job(constraints=[a_constraint("${meta.rack}", "=", "r1")])) == ["n0", "n1"]
    assert feasible(nodes, a_job(constraints=[a_constraint("${meta.rack}", "=", "${meta.twin}")])) == ["n0"]
    assert feasible(nodes, a_job(constraints=[a_constraint("r2", "=", "${meta.twin}")])) == ["n1"]
    assert feasible(nodes, a_job(constraints=[a_constraint("${meta.rack}", "!=", "r1")])) == ["n2"]
    assert feasible(nodes, a_job(constraints=[a_constraint("${node.unique.name}", "regexp", "[12]")])) == [
        "n1",
        "n2",
    ]


def test_masks_follow_changes_of_nodes() -> None:
    state = a_state([a_node(0, meta={"rack": "r1"}), a_node(1)])
    job = a_job(constraints=[a_constraint("${meta.rack}", "=", "r1")])
    assert feasibility(state.columns, job, job.task_groups[0]).slots.tolist() == [0]
    changed = a_node(1, meta={"rack": "r1"})
    state.nodes.put(changed.id, changed, 9)
    assert feasibility(state.columns, job, job.task_groups[0]).slots.tolist() == [0, 1]
    down = replace(changed, status=NODE_DOWN)
    state.nodes.put(down.id, down, 10)
    assert feasibility(state.columns, job, job.task_groups[0]).slots.tolist() == [0]


def test_a_class_is_named_once_then_only_ineligible() -> None:
    nodes = [a_node(number, node_class="a" if number < 2 else "b") for number in range(5)]
    found = judge(nodes, a_job(constraints=[a_constraint("${node.class}", "=", "c")]))
    filtered = found.filtered(job_seen=False, group_seen=False)
    assert filtered.nodes == 5
    assert filtered.labels == {"${node.class} = c": 2, "computed class ineligible": 3}
    assert filtered.node_classes == {"a": 2, "b": 3}
    again = found.filtered(job_seen=True, group_seen=True)
    assert again.labels == {"computed class ineligible": 5}
    assert found.class_eligibility() == {nodes[0].computed_class: False, nodes[4].computed_class: False}


def test_escaping_constraints_name_every_node() -> None:
    nodes = [a_node(number) for number in range(3)]
    found = judge(nodes, a_job(constraints=[a_constraint("${node.unique.name}", "=", "n1")]))
    assert found.escapes
    assert found.filtered(job_seen=True, group_seen=True).labels == {"${node.unique.name} = n1": 2}


def test_one_unhealthy_driver_does_not_speak_for_its_class() -> None:
    nodes = [a_node(0, healthy=False), a_node(1)]
    assert nodes[0].computed_class == nodes[1].computed_class
    found = judge(nodes, a_job())
    assert found.slots.tolist() == [1]
    assert found.class_eligibility() == {nodes[1].computed_class: True}
    # The driver may come back without a change of class: the class must not be written off.
    assert judge(nodes[:1], a_job()).class_eligibility() == {}


@pytest.mark.parametrize(
    ("drivers", "attributes", "ok"),
    [
        ({}, {"driver.raw_exec": "1"}, True),
        ({}, {"driver.raw_exec": "no"}, False),
        ({"raw_exec": DriverInfo(detected=False, healthy=True)}, {"driver.raw_exec": "1"}, False),
    ],
)
def test_drivers_by_record_then_by_attribute(
    drivers: dict[str, DriverInfo], attributes: dict[str, str], ok: bool
) -> None:
    node = replace(a_node(0, attributes=attributes), drivers=drivers)
    assert bool(feasible([node], a_job())) is ok


def gpus(count: int, *, name: str = "t4", healthy: bool = True, memory: int = 16384) -> NodeDeviceResource:
    return NodeDeviceResource(
        vendor="nvidia",
        type="gpu",
        name=name,
        instances=tuple(NodeDevice(id=f"{name}-{number}", healthy=healthy) for number in range(count)),
        attributes={"memory": DeviceAttribute(int_value=memory, unit="MiB")},
    )


@pytest.mark.parametrize(
    ("request_", "ok"),
    [
        (RequestedDevice(name="gpu", count=2), True),
        (RequestedDevice(name="nvidia/gpu", count=1), True),
        (RequestedDevice(name="nvidia/gpu/t4", count=1), True),
        (RequestedDevice(name="nvidia/gpu/k80", count=1), False),
        (RequestedDevice(name="amd/gpu", count=1), False),
        (RequestedDevice(name="gpu", count=3), False),
        (
            RequestedDevice(
                name="gpu", count=1, constraints=(a_constraint("${device.attr.memory}", ">=", "16 GiB"),)
            ),
            True,
        ),
        (
            RequestedDevice(
                name="gpu", count=1, constraints=(a_constraint("${device.attr.memory}", ">", "16 GiB"),)
            ),
            False,
        ),
    ],
)
def test_devices(request_: RequestedDevice, ok: bool) -> None:
    node = a_node(0, devices=[gpus(2)])
    job = a_job(a_group("g", a_task(devices=[request_])))
    assert bool(feasible([node], job)) is ok


def test_unhealthy_devices_do_not_count() -> None:
    job = a_job(a_group("g", a_task(devices=[RequestedDevice(name="gpu", count=1)])))
    assert feasible([a_node(0, devices=[gpus(2, healthy=False)])], job) == []


def test_countable_resources_are_asked_for_like_devices() -> None:
    job = a_job(a_group("g", a_task(devices=[RequestedDevice(name="licence", count=3)])))
    nodes = [a_node(0, countables={"licence": 2}), a_node(1, countables={"licence": 3})]
    assert feasible(nodes, job) == ["n1"]


@pytest.mark.parametrize(
    ("left", "operand", "right", "result"),
    [
        ("1024 MiB", "=", "1 GiB", True),
        ("1 GB", "<", "1 GiB", True),
        ("1 GiB", ">", "5", False),
        ("2", ">", "1.5", True),
        ("true", "=", "true", True),
        ("false", "<", "true", False),
        ("abc", "!=", "abd", True),
        ("abc", "!=", "1", False),
        ("a,b", "set_contains", "b", True),
        ("1000 MW", "=", "1 GW", True),
        ("3 GHz", ">", "2999 MHz", True),
        ("1 GB/s", "=", "1 GB", False),
    ],
)
def test_device_attributes_compare_by_kind_and_unit(
    left: str, operand: str, right: str, result: bool
) -> None:
    assert device_holds(parse_literal(left), operand, parse_literal(right)) is result


def test_missing_device_attributes() -> None:
    assert device_holds(None, "!=", 1) is True  # type: ignore[arg-type]  # any value
    assert device_holds(None, "!=", None) is False
    assert device_holds(None, "is_not_set", None) is True


def test_network_modes_and_host_networks() -> None:
    nodes = [a_node(0, meta={"net": "default"}), a_node(1)]
    bridge = a_job(a_group(network=NetworkResource(mode="bridge")))
    assert feasible(nodes, bridge) == []
    none = a_job(a_group(network=NetworkResource(mode="none")))
    assert feasible(nodes, none) == ["n0", "n1"]
    by_target = a_job(
        a_group(network=NetworkResource(dynamic_ports=(Port(label="p", host_network="${meta.net}"),)))
    )
    assert feasible(nodes, by_target) == ["n0"]
    missing = a_job(a_group(network=NetworkResource(dynamic_ports=(Port(label="p", host_network="lan"),))))
    labels = judge(nodes, missing).filtered(job_seen=False, group_seen=False).labels
    assert labels == {'missing host network "lan" for port "p"': 2}


def test_host_volumes() -> None:
    def serving(**volume: object) -> Node:
        return with_class(replace(a_node(0), host_volumes={"data": HostVolume(name="data", **volume)}))  # type: ignore[arg-type]

    def asking(**request: object) -> Job:
        group = replace(
            a_group(),
            volumes={"v": VolumeRequest(name="v", type="host", source="data", **request)},  # type: ignore[arg-type]
        )
        return a_job(group)

    assert feasible([serving()], asking()) == ["n0"]
    assert feasible([a_node(0)], asking()) == []
    assert feasible([serving(read_only=True)], asking()) == []
    assert feasible([serving(read_only=True)], asking(read_only=True)) == ["n0"]
    assert feasible([serving()], asking(sticky=True)) == []
    found = judge([a_node(0)], asking())
    assert found.filtered(job_seen=True, group_seen=True).labels == {"missing compatible host volumes": 1}


@pytest.mark.parametrize(
    ("volume", "request_", "namespace", "serves"),
    [
        pytest.param({}, {}, "default", True, id="as usual"),
        pytest.param({}, {"sticky": True}, "default", True, id="may be claimed for good"),
        pytest.param({}, {}, "other", False, id="of another namespace"),
        pytest.param({"state": "pending"}, {}, "default", False, id="not ready"),
        pytest.param({}, {"read_only": True}, "default", False, id="not made for reading alone"),
        pytest.param(
            {"modes": ("single-node-reader-only",)}, {"read_only": True}, "default", True, id="reader"
        ),
        pytest.param({"modes": ("single-node-reader-only",)}, {}, "default", False, id="not for writing"),
        pytest.param(
            {"modes": ("single-node-multi-writer",)},
            {"access_mode": "single-node-multi-writer"},
            "default",
            True,
            id="asked for and offered",
        ),
        pytest.param({}, {"access_mode": "single-node-multi-writer"}, "default", False, id="not offered"),
        pytest.param({}, {"attachment_mode": "block-device"}, "default", False, id="not attached so"),
    ],
)
def test_volumes_made_at_run_time(
    volume: dict[str, Any], request_: dict[str, Any], namespace: str, serves: bool
) -> None:
    node = with_class(replace(a_node(0), host_volumes={"data": HostVolume(name="data", id="v1")}))
    state = a_state([node])
    modes = volume.get("modes", ())
    made = DynamicVolume(
        id="v1",
        name="data",
        node_id=node.id,
        state=volume.get("state", "ready"),
        requested_capabilities=tuple(
            VolumeCapability(access_mode=mode, attachment_mode="file-system") for mode in modes
        )
        or None,
    )
    state.host_volumes.put(made.id, made, state.index)
    wanted = VolumeRequest(name="v", type="host", source="data", **request_)
    group = replace(a_group(), volumes={"v": wanted})
    found = feasibility(state.columns, replace(a_job(group), namespace=namespace), group)
    assert bool(found.mask[0]) is serves


def test_csi_volumes_that_nobody_has_turn_every_node_away() -> None:
    group = replace(a_group(), volumes={"v": VolumeRequest(name="v", type="csi", source="db")})
    found = judge([a_node(0)], a_job(group))
    assert found.missing_volumes == ("csi-volume:default:db",)
    assert found.escapes
    assert len(found.slots) == 0
