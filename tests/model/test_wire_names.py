"""The names that fields have on the wire."""

from __future__ import annotations

import msgspec
import pytest

from yurt.model.alloc import Allocation, alloc_name
from yurt.model.allocated import AllocatedResources
from yurt.model.evaluation import Evaluation
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM, Job
from yurt.model.job_versions import same_spec
from yurt.model.policies import ScalingPolicy
from yurt.model.wire import AllocID, EvalID, JobID, NodeID, SparseWire, Wire, wire_name, wire_names


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("id", "ID"),
        ("job_id", "JobID"),
        ("memory_mb", "MemoryMB"),
        ("ltarget", "LTarget"),
        ("task_groups", "TaskGroups"),
        ("failed_tg_allocs", "FailedTGAllocs"),
        ("ui", "UI"),
        ("all_at_once", "AllAtOnce"),
        ("host_ip", "HostIP"),
    ],
)
def test_snake_case_becomes_nomads(field: str, name: str) -> None:
    assert wire_name(field) == name


def test_exceptions_are_named() -> None:
    rename = wire_names(cpu="Cpu")
    assert (rename("cpu"), rename("memory_mb")) == ("Cpu", "MemoryMB")


class _Whole(Wire, frozen=True, kw_only=True):
    job_id: str = ""


class _Sparse(SparseWire, frozen=True, kw_only=True):
    job_id: str = ""


def test_every_member_is_present_unless_it_is_sparse() -> None:
    assert msgspec.json.encode(_Whole()) == b'{"JobID":""}'
    assert msgspec.json.encode(_Sparse()) == b"{}"


@pytest.mark.parametrize(
    ("kind", "name"),
    [(SERVICE, "id.g[2]"), (BATCH, "id.g[2]"), (SYSTEM, "name.g[2]"), (SYSBATCH, "name.g[2]")],
)
def test_the_name_of_an_allocation(kind: str, name: str) -> None:
    assert alloc_name(Job(id=JobID("id"), name="name", type=kind), "g", 2) == name


@pytest.mark.parametrize(
    ("desired", "client", "by_server", "by_client"),
    [
        ("run", "pending", False, False),
        ("run", "running", False, False),
        ("run", "unknown", False, False),
        ("run", "complete", False, True),
        ("run", "failed", False, True),
        ("run", "lost", False, True),
        ("stop", "running", True, False),
        ("evict", "running", True, False),
        ("stop", "complete", True, True),
    ],
)
def test_when_an_allocation_is_over(desired: str, client: str, by_server: bool, by_client: bool) -> None:
    alloc = Allocation(
        id=AllocID("a"),
        job=Job(),
        task_group="g",
        name_index=0,
        node_id=NodeID("n"),
        node_name="n",
        eval_id=EvalID("e"),
        resources=AllocatedResources(),
        desired_status=desired,
        client_status=client,
    )
    assert (alloc.is_server_terminal, alloc.is_client_terminal) == (by_server, by_client)
    assert alloc.is_terminal is (by_server or by_client)


def test_an_evaluation_in_short() -> None:
    stub = Evaluation(id=EvalID("e"), job_id=JobID("web"), status="blocked").stub()
    assert (stub.id, stub.job_id, stub.status) == ("e", "web", "blocked")


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({}, True),
        ({"status": "dead", "status_description": "x", "stable": True, "version": 9}, True),
        ({"create_index": 1, "modify_index": 2, "job_modify_index": 3, "submit_time": 4}, True),
        ({"priority": 51}, False),
        ({"meta": {"a": "b"}}, False),
        ({"stop": True}, False),
        ({"task_groups": (TaskGroup(name="g", scaling=ScalingPolicy(id="p")),)}, False),
    ],
)
def test_when_two_jobs_ask_for_the_same(changes: dict[str, object], is_same: bool) -> None:
    old = Job(id=JobID("web"), task_groups=(TaskGroup(name="g"),))
    assert same_spec(old, msgspec.structs.replace(old, **changes)) is is_same
