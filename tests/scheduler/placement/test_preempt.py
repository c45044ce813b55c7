"""Which allocations make room, against worked tables."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from tests.scheduler.placement.builders import a_group, a_job, a_node, a_state, a_task, an_alloc, requests
from yurt.model.alloc import Allocation
from yurt.model.alloc_metric import AllocMetric
from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedDevice,
    AllocatedMemory,
    AllocatedPort,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.job import SYSTEM, Job
from yurt.model.node import Node, NodeDevice, NodeDeviceResource
from yurt.model.policies import MigrateStrategy
from yurt.model.resources import NetworkResource, Port, RequestedDevice
from yurt.model.scheduler_configuration import PreemptionConfig, SchedulerConfiguration
from yurt.scheduler.ask import ask_of
from yurt.scheduler.place import place_group
from yurt.scheduler.preempt import distance, find_victims, preemption_score
from yurt.scheduler.requests import PlaceRequest
from yurt.scheduler.view import View
from yurt.state.use import CPU

GIB = 1024
NODE = a_node(0, cpu=3900, memory=8192 - 256, disk=96 * GIB)
PREEMPTING = SchedulerConfiguration(
    preemption_config=PreemptionConfig(service_scheduler_enabled=True, batch_scheduler_enabled=True)
)


def given(
    cpu: int = 100,
    memory: int = 10,
    disk: int = 0,
    *,
    mbits: int = 0,
    port: int = 0,
    devices: Sequence[AllocatedDevice] = (),
) -> AllocatedResources:
    return AllocatedResources(
        tasks={
            "t": AllocatedTaskResources(
                cpu=AllocatedCpu(cpu_shares=cpu),
                memory=AllocatedMemory(memory_mb=memory),
                networks=(NetworkResource(device="eth0", ip="10.0.0.0", mbits=mbits),) if mbits else None,
                devices=tuple(devices) or None,
            )
        },
        task_lifecycles={"t": None},
        shared=AllocatedShared(
            disk_mb=disk, ports=(AllocatedPort(label="p", value=port, host_ip="10.0.0.0"),) if port else None
        ),
    )


def alloc(name: str, priority: int, resources: AllocatedResources, node: Node = NODE) -> Allocation:
    number = ord(name)
    made = an_alloc(number, node, job=a_job(id=f"job-{name}", priority=priority), resources=resources)
    return replace(made, id=name)


def victims(
    allocs: list[Allocation], job: Job, node: Node = NODE, preempted: Sequence[Allocation] = ()
) -> str | None:
    view = View(a_state([node], [*allocs, *preempted]))
    for one in preempted:
        view.preempt(one)
    ask = ask_of(job.task_groups[0], oversubscribe=False)
    found = find_victims(view, 0, job, ask, ask.amounts[CPU])
    return None if found is None else "".join(sorted(victim.id for victim in found))


def asking(
    cpu: int, memory: int, disk: int = 0, *, mbits: int = 0, port: int = 0, priority: int = 100
) -> Job:
    task = a_task(cpu=cpu, memory=memory)
    if mbits:
        networks = (NetworkResource(mbits=mbits),)
        task = replace(task, resources=replace(task.resources, networks=networks))
    network = NetworkResource(reserved_ports=(Port(label="p", value=port),)) if port else None
    return a_job(a_group("g", task, disk=disk, network=network), id="placing", priority=priority)


@pytest.mark.parametrize(("delta", "expected"), [(5, "a"), (6, None)])
def test_how_much_less_important_victims_are_is_a_setting(delta: int, expected: str | None) -> None:
    configuration = SchedulerConfiguration(
        preemption_config=PreemptionConfig(service_scheduler_enabled=True, priority_delta=delta)
    )
    job = asking(3000, 1000)
    result = place_group(
        View(a_state([NODE], [alloc("a", 95, given(3000, 1000, 0))])),
        job,
        job.task_groups[0],
        requests(1),
        rng=Random(7),
        configuration=configuration,
    )
    found = "".join(victim for one in result.placed for victim in one.preempted)
    assert (found or None) == expected


def test_distance() -> None:
    needed = [0.0] * 7
    needed[0], needed[1], needed[2] = 2048, 512, 4096
    for resources, expected in [
        ((2048, 512, 4096), 0.000),
        ((1024, 400, 1024), 0.928),
        ((8192, 200, 1024), 3.152),
        ((2048, 500, 4096), 0.023),
    ]:
        assert distance(needed, alloc("a", 30, given(*resources))) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("allocs", "job", "expected"),
    [
        pytest.param(
            [alloc("H", 100, given(3200, 7256, 4 * GIB))],
            asking(2000, 256, 4 * GIB),
            None,
            id="too important to displace",
        ),
        pytest.param(
            [alloc("L", 30, given(3200, 7256, 4 * GIB))],
            asking(4000, 8192, 4 * GIB),
            None,
            id="not enough even then",
        ),
        pytest.param(
            [
                alloc("H", 100, given(2800, 2256, 40 * GIB, mbits=150)),
                alloc("a", 30, given(200, 256, 4 * GIB, mbits=50)),
                alloc("b", 30, given(200, 512, 25 * GIB)),
                alloc("c", 30, given(700, 276, 20 * GIB)),
            ],
            asking(1000, 3000, 50 * GIB, mbits=50),
            "abc",
            id="all that can be",
        ),
        pytest.param(
            [
                alloc("H", 100, given(1800, 2256, 4 * GIB, mbits=150)),
                alloc("a", 30, given(1500, 256, 5 * GIB, mbits=100)),
                alloc("b", 30, given(600, 256, 5 * GIB, mbits=300)),
            ],
            asking(1000, 256, 5 * GIB, mbits=50),
            "a",
            id="no more than needed",
        ),
        pytest.param(
            [
                alloc("a", 30, given(2800, 2256, 4 * GIB)),
                alloc("b", 30, given(200, 256, 4 * GIB, mbits=800)),
            ],
            asking(1100, 1000, 25 * GIB, mbits=840, priority=35),
            None,
            id="not important enough",
        ),
        pytest.param([alloc("a", 30, given(100, 100))], asking(1000, 256), "", id="there is room"),
    ],
)
def test_cpu_memory_and_disk(allocs: list[Allocation], job: Job, expected: str | None) -> None:
    assert victims(allocs, job) == expected


@pytest.mark.parametrize(
    ("allocs", "job", "expected"),
    [
        pytest.param(
            [
                alloc("H", 100, given(mbits=150)),
                alloc("a", 30, given(mbits=500)),
                alloc("b", 30, given(mbits=320)),
            ],
            asking(100, 10, mbits=320),
            "b",
            id="the closest",
        ),
        pytest.param(
            [
                alloc("H", 100, given(mbits=150)),
                alloc("a", 30, given(mbits=500, port=88)),
                alloc("b", 30, given(mbits=200)),
            ],
            asking(100, 10, mbits=800, port=88),
            "ab",
            id="who holds the port, and more",
        ),
        pytest.param(
            [
                alloc("H", 100, given(mbits=150)),
                alloc("a", 30, given(mbits=600, port=88)),
                alloc("b", 30, given(mbits=100)),
            ],
            asking(100, 10, mbits=700, port=88),
            "a",
            id="who holds the port is enough",
        ),
        pytest.param(
            [alloc("H", 100, given(mbits=150, port=88)), alloc("a", 30, given(mbits=600))],
            asking(100, 10, port=88),
            None,
            id="the holder stays",
        ),
        pytest.param(
            [
                alloc("H", 100, given(mbits=150)),
                alloc("a", 30, given(mbits=500)),
                alloc("b", 40, given(mbits=300)),
            ],
            asking(100, 10, mbits=320),
            "a",
            id="lowest priority first",
        ),
    ],
)
def test_network(allocs: list[Allocation], job: Job, expected: str | None) -> None:
    assert victims(allocs, job) == expected


def test_jobs_at_their_limit_of_migrations_are_spared() -> None:
    limited = a_job(replace(a_group(), migrate=MigrateStrategy(max_parallel=1)), id="limited", priority=30)
    free = a_job(id="free", priority=30)
    resources = given(1900, 100)
    allocs = [
        replace(an_alloc(1, NODE, job=limited, resources=resources), id="l"),
        replace(an_alloc(2, NODE, job=free, resources=given(1800, 100)), id="f"),
    ]
    gone = [replace(an_alloc(3, NODE, job=limited, resources=given(10, 10)), id="g")]
    assert victims(allocs, asking(1900, 10)) == "l"
    assert victims(allocs, asking(1700, 10), preempted=gone) == "f"


def gpu_node() -> Node:
    return a_node(
        0,
        devices=[
            NodeDeviceResource(
                vendor="nvidia",
                type="gpu",
                name=name,
                instances=tuple(NodeDevice(id=f"{name}-{number}", healthy=True) for number in range(4)),
            )
            for name in ("t4", "k80")
        ],
    )


def gpus(name: str, *numbers: int) -> AllocatedResources:
    ids = tuple(f"{name}-{number}" for number in numbers)
    return given(devices=[AllocatedDevice(vendor="nvidia", type="gpu", name=name, device_ids=ids)])


def wanting_gpus(count: int) -> Job:
    task = a_task(cpu=100, memory=10, devices=[RequestedDevice(name="gpu", count=count)])
    return a_job(a_group("g", task), id="placing", priority=100)


def test_devices_are_freed_where_it_costs_least() -> None:
    node = gpu_node()
    allocs = [
        alloc("a", 30, gpus("t4", 0, 1), node),
        alloc("b", 30, gpus("t4", 2, 3), node),
        alloc("c", 30, gpus("k80", 0, 1), node),
        alloc("d", 40, gpus("k80", 2, 3), node),
    ]
    assert victims(allocs, wanting_gpus(4), node) == "ab"
    assert victims(allocs, wanting_gpus(5), node) is None
    assert victims(allocs, wanting_gpus(2), node) in ("a", "b", "c")


@pytest.mark.parametrize(
    ("priorities", "score"),
    [([30], 0.999938), ([100] * 10, 0.999909), ([100] * 90 * 10, 0.993506)],
)
def test_score(priorities: list[int], score: float) -> None:
    allocs = [alloc("a", priority, given()) for priority in priorities]
    assert preemption_score(allocs) == pytest.approx(score, abs=1e-6)


def test_service_displaces_only_when_nothing_else_fits() -> None:
    nodes = [a_node(0, cpu=1000), a_node(1, cpu=1000)]
    low = an_alloc(0, nodes[0], job=a_job(id="low", priority=20), resources=given(900))
    job = a_job(a_group("g", a_task(cpu=500), count=3), priority=50)
    view = View(a_state(nodes, [low]))
    result = place_group(view, job, job.task_groups[0], requests(3), rng=Random(1), configuration=PREEMPTING)
    assert [(one.node_id, one.preempted) for one in result.placed] == [
        ("node-1", ()),
        ("node-1", ()),
        ("node-0", ("alloc-0",)),
    ]
    metric = msgspec.msgpack.decode(result.placed[2].metrics, type=AllocMetric)
    assert metric.score_meta_data is not None
    assert metric.score_meta_data[0].scores is not None
    assert metric.score_meta_data[0].scores["preemption"] == pytest.approx(0.99994, abs=1e-4)
    default = place_group(
        View(a_state(nodes, [low])),
        job,
        job.task_groups[0],
        requests(3),
        rng=Random(1),
        configuration=SchedulerConfiguration(),
    )
    assert len(default.placed) == 2


def test_two_instances_that_both_need_room_on_one_node_get_it() -> None:
    """Nomad forgets the job's own first instance here, and its plan is rejected for good (Q17)."""
    node = a_node(0, cpu=1000)
    low = [an_alloc(n, node, job=a_job(id=f"low{n}", priority=20), resources=given(500)) for n in range(2)]
    job = a_job(a_group("g", a_task(cpu=500), count=2), priority=50)
    view = View(a_state([node], low))
    result = place_group(view, job, job.task_groups[0], requests(2), rng=Random(1), configuration=PREEMPTING)
    assert sorted(victim for one in result.placed for victim in one.preempted) == ["alloc-0", "alloc-1"]
    assert not view.is_overfull(0)


def test_system_jobs_displace_by_default() -> None:
    nodes = [a_node(0, cpu=1000), a_node(1, cpu=1000)]
    low = [
        an_alloc(number, node, job=a_job(id="low", priority=20), resources=given(900))
        for number, node in enumerate(nodes)
    ]
    high = an_alloc(7, nodes[1], job=a_job(id="high", priority=80), resources=given(100))
    job = a_job(a_group("g", a_task(cpu=950)), type=SYSTEM, priority=50)
    wanted = [PlaceRequest(name_index=0, required_node=node.id) for node in nodes]
    result = place_group(
        View(a_state(nodes, [*low, high])),
        job,
        job.task_groups[0],
        wanted,
        rng=Random(1),
        configuration=SchedulerConfiguration(),
    )
    assert [(one.node_id, one.preempted) for one in result.placed] == [("node-0", ("alloc-0",))]
    assert result.exhausted == (wanted[1],)
