"""Columns of capacity and use stay what a fresh count would give."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.scheduler.placement.builders import a_node, a_state, an_alloc, some_resources
from tests.scheduler.placement.plain import plain_use
from yurt.model.alloc import Allocation
from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedDevice,
    AllocatedMemory,
    AllocatedPort,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.computed_class import computed_class
from yurt.model.node import NODE_DOWN, DeviceAttribute, NodeDevice, NodeDeviceResource
from yurt.model.task_parts import TaskLifecycle
from yurt.state.columns import KEPT_FOR_NS
from yurt.state.state import State
from yurt.state.use import ALLOCS, CORES, CPU, DISK, MEMORY, PORTS, PortClaim, use_of

NODES = [a_node(number) for number in range(3)]


@st.composite
def resources(draw: st.DrawFn) -> AllocatedResources:
    hooks = st.sampled_from(["", "prestart", "poststart", "poststop"])
    tasks, lifecycles = {}, {}
    for name in ("a", "b", "c")[: draw(st.integers(1, 3))]:
        cores = draw(st.sampled_from([None, None, (1,)]))
        tasks[name] = AllocatedTaskResources(
            cpu=AllocatedCpu(cpu_shares=draw(st.integers(1, 500)), reserved_cores=cores),
            memory=AllocatedMemory(memory_mb=draw(st.integers(1, 500))),
            devices=(AllocatedDevice(vendor="v", type="gpu", name="x", device_ids=("0",)),)
            if draw(st.booleans())
            else None,
        )
        hook = draw(hooks)
        lifecycles[name] = TaskLifecycle(hook=hook, sidecar=draw(st.booleans())) if hook else None
    ports = (AllocatedPort(label="p", value=draw(st.integers(1, 3)), host_ip="ip"),)
    shared = AllocatedShared(disk_mb=draw(st.integers(0, 99)), ports=ports if draw(st.booleans()) else None)
    return AllocatedResources(tasks=tasks, task_lifecycles=lifecycles, shared=shared)


@given(given_=resources())
def test_use_folds_lifecycles_like_the_plain_count(given_: AllocatedResources) -> None:
    amounts = use_of(given_).amounts
    assert (amounts[CPU], amounts[MEMORY], amounts[DISK]) == plain_use(given_)
    assert amounts[ALLOCS] == 1


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_columns_equal_a_fresh_count(data: st.DataObject) -> None:
    state = a_state(NODES)
    allocs: dict[str, Allocation] = {}
    index = 10
    for _ in range(data.draw(st.integers(1, 25))):
        index += 1
        action = data.draw(st.sampled_from(["put", "put", "new", "delete", "drop", "node", "ask"]))
        node = data.draw(st.sampled_from(NODES))
        match action:
            case "put":
                alloc = an_alloc(
                    data.draw(st.integers(0, 5)),
                    node,
                    resources=data.draw(resources()),
                    client_status=data.draw(st.sampled_from(["running", "complete", "unknown"])),
                    desired_status=data.draw(st.sampled_from(["run", "stop"])),
                )
                if alloc.id in allocs:  # an allocation never moves
                    alloc = replace(alloc, node_id=allocs[alloc.id].node_id)
                state.allocs.put(alloc.id, alloc, index)
                allocs[alloc.id] = alloc
            case "new":
                shared = data.draw(resources())
                fresh = [an_alloc(index * 100 + n, node, resources=shared) for n in range(3)]
                state.allocs.put_new(fresh, index)
                allocs |= {alloc.id: alloc for alloc in fresh}
            case "delete" if allocs:
                alloc_id = data.draw(st.sampled_from(sorted(allocs)))
                state.allocs.delete(allocs.pop(alloc_id).id, index)
            case "drop":
                state.nodes.delete(node.id, index)
            case "node":
                state.nodes.put(node.id, node, index)
            case _:
                state.allocs.claims.of(node.id)
    assert_equals_fresh(state, allocs)


def assert_equals_fresh(state: State, allocs: dict[str, Allocation]) -> None:
    fresh = a_state(list(state.nodes), list(allocs.values()))
    for node in state.nodes:
        one, two = state.columns.slots[node.id], fresh.columns.slots[node.id]
        for name in ("capacity", "used", "stopping"):
            mine, theirs = getattr(state.columns, name)[:, one], getattr(fresh.columns, name)[:, two]
            assert (mine == theirs).all(), name
        assert state.allocs.claims.of(node.id) == fresh.allocs.claims.of(node.id)
        key = ("v", "gpu", "x")
        assert state.columns.devices_in_use(key)[one] == fresh.columns.devices_in_use(key)[two]
        assert state.columns.ready[one]


def test_stopping_allocations_use_their_room_until_their_tasks_end() -> None:
    state = a_state(NODES[:1])
    alloc = an_alloc(0, NODES[0], resources=some_resources(cpu=500))
    for desired, client, used, stopping in [
        ("run", "running", 500, 0),
        ("stop", "running", 500, 500),
        ("stop", "complete", 0, 0),
    ]:
        state.allocs.put(alloc.id, replace(alloc, desired_status=desired, client_status=client), 9)
        assert state.columns.used[CPU, 0] == used
        assert state.columns.stopping[CPU, 0] == stopping


def test_columns_grow_past_their_first_size() -> None:
    nodes = [a_node(number, cores=2, reserved_ports="20000-20009,22") for number in range(200)]
    state = a_state(nodes, [an_alloc(0, nodes[150])])
    assert state.columns.size == 200
    assert state.columns.used[ALLOCS, 150] == 1
    assert (state.columns.capacity[CORES, :200] == 2).all()
    assert (state.columns.capacity[PORTS, :200] == 32000 - 20000 + 1 - 10).all()
    assert np.count_nonzero(state.columns.ready) == 200


def test_claims_are_counted_by_holder() -> None:
    shared = AllocatedShared(ports=(AllocatedPort(label="p", value=80, host_ip="ip"),))
    held = replace(some_resources(), shared=shared)
    state = a_state(NODES, [an_alloc(0, NODES[0], resources=held), an_alloc(1, NODES[0], resources=held)])
    assert state.allocs.claims.of(NODES[0].id) == {PortClaim("ip", 80): 2}


def test_computed_class_ignores_what_differs_between_alike_nodes() -> None:
    gpu = NodeDeviceResource(
        vendor="v", type="gpu", name="x", attributes={"memory": DeviceAttribute(int_value=8)}
    )
    first = a_node(0, meta={"rack": "r1"}, devices=[gpu])
    alike = [
        a_node(1, cpu=1, memory=1, meta={"rack": "r1", "unique.slot": "7"}, devices=[gpu]),
        replace(first, status=NODE_DOWN, computed_class=""),
        a_node(2, meta={"rack": "r1"}, devices=[replace(gpu, instances=(NodeDevice(id="0"),))]),
    ]
    assert {computed_class(node) for node in alike} == {first.computed_class}
    assert first.computed_class.startswith("v1:")
    different = [
        a_node(0, meta={"rack": "r2"}, devices=[gpu]),
        a_node(0, meta={"rack": "r1"}),
        a_node(0, meta={"rack": "r1"}, devices=[gpu], datacenter="dc9"),
        a_node(0, meta={"rack": "r1"}, devices=[gpu], node_class="c"),
        a_node(0, meta={"rack": "r1"}, devices=[gpu], node_pool="p"),
        a_node(0, meta={"rack": "r1"}, devices=[gpu], attributes={"arch": "arm64"}),
    ]
    assert first.computed_class not in {computed_class(node) for node in different}


def test_what_is_kept_about_nodes_has_a_time_limit() -> None:
    columns = a_state([a_node(0)]).columns
    columns.expire(KEPT_FOR_NS + 1)
    columns.keep("a", 1)
    columns.keep_ready("b", 2)
    columns.expire(2 * KEPT_FOR_NS + 1)
    assert (columns.memo, columns.ready_memo) == ({"a": 1}, {"b": 2})
    columns.expire(2 * KEPT_FOR_NS + 2)
    assert (columns.memo, columns.ready_memo) == ({}, {})
