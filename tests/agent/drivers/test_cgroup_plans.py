"""Control groups of tasks: names and limits, in both versions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from yurt.agent.drivers import TaskResources
from yurt.agent.drivers.cgroups import (
    CgroupTree,
    cpu_weight,
    find_cgroups,
    memory_limits_mb,
    override_cgroups,
    task_cgroups,
)

V1 = CgroupTree(
    version=1,
    mount="/cg",
    parent="nomad",
    controllers=("cpu", "memory"),
    has_swappiness=True,
    all_cpus="0-7",
    all_memory_nodes="0",
)
V2 = CgroupTree(version=2, mount="/cg", parent="nomad.slice", controllers=("cpuset", "cpu", "memory"))
MIB = 1 << 20
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="without root no groups are made")


def test_a_task_of_version_1_has_a_group_in_each_tree() -> None:
    plan = task_cgroups(V1, "a1", "web", TaskResources(cpu_shares=500, memory_mb=256))

    assert plan.make == plan.join == ("/cg/cpu/nomad/a1.web", "/cg/memory/nomad/a1.web")
    assert dict(plan.write) == {
        "/cg/memory/nomad/a1.web/memory.limit_in_bytes": str(256 * MIB),
        "/cg/memory/nomad/a1.web/memory.swappiness": "0",
        "/cg/cpu/nomad/a1.web/cpu.shares": "500",
    }
    assert plan.oom_counter == "/cg/memory/nomad/a1.web/memory.oom_control"


def test_reserved_cores_of_version_1_fill_the_groups_above_first() -> None:
    plan = task_cgroups(V1, "a1", "web", TaskResources(cores=(2, 3)))

    assert plan.join[-1] == "/cg/cpuset/nomad/reserve/a1.web"
    assert [entry for entry in plan.write if "cpuset" in entry[0]] == [
        ("/cg/cpuset/nomad/cpuset.cpus", "0-7"),
        ("/cg/cpuset/nomad/cpuset.mems", "0"),
        ("/cg/cpuset/nomad/reserve/cpuset.cpus", "0-7"),
        ("/cg/cpuset/nomad/reserve/cpuset.mems", "0"),
        ("/cg/cpuset/nomad/reserve/a1.web/cpuset.cpus", "2,3"),
        ("/cg/cpuset/nomad/reserve/a1.web/cpuset.mems", "0"),
    ]


def test_a_task_of_version_2_has_one_scope() -> None:
    resources = TaskResources(cpu_shares=100, memory_mb=256, memory_max_mb=512)

    plan = task_cgroups(V2, "a1", "web", resources)

    scope = "/cg/nomad.slice/share.slice/a1.web.scope"
    assert plan.make == plan.join == (scope,)
    assert dict(plan.write) == {
        f"{scope}/memory.max": str(512 * MIB),
        f"{scope}/memory.low": str(256 * MIB),
        f"{scope}/cpu.weight": "4",
    }
    assert plan.oom_counter == f"{scope}/memory.events"


def test_reserved_cores_of_version_2_have_a_slice_of_their_own() -> None:
    plan = task_cgroups(V2, "a1", "web", TaskResources(cores=(0, 5)))

    scope = "/cg/nomad.slice/reserve.slice/a1.web.scope"
    assert plan.write == ((f"{scope}/cpuset.cpus", "0,5"),)


@pytest.mark.parametrize(
    ("memory_mb", "memory_max_mb", "limits"),
    [
        pytest.param(100, 0, (100, 0), id="one limit"),
        pytest.param(100, 300, (300, 100), id="with room above"),
        pytest.param(100, -1, (0, 100), id="no hard limit"),
        pytest.param(0, 0, (0, 0), id="nothing asked"),
    ],
)
def test_memory_limits(memory_mb: int, memory_max_mb: int, limits: tuple[int, int]) -> None:
    assert memory_limits_mb(TaskResources(memory_mb=memory_mb, memory_max_mb=memory_max_mb)) == limits


@pytest.mark.parametrize(("shares", "weight"), [(0, 1), (2, 1), (1024, 39), (262_144, 10_000)])
def test_shares_become_weights(shares: int, weight: int) -> None:
    assert cpu_weight(shares) == weight


def test_a_job_may_name_groups_below_the_mount_or_in_full() -> None:
    assert override_cgroups({}, "custom/mine").join == ("/sys/fs/cgroup/custom/mine",)
    assert override_cgroups({}, "/sys/fs/cgroup/custom").join == ("/sys/fs/cgroup/custom",)
    assert override_cgroups({"cpu": "/a", "memory": "b"}, "").join == (
        "/sys/fs/cgroup/cpu/a",
        "/sys/fs/cgroup/memory/b",
    )


@as_root
def test_version_2_is_prepared_from_the_top(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids rdma\n")

    tree = find_cgroups(mount=tmp_path, parent="mine.slice")

    assert tree is not None
    assert (tree.version, tree.controllers) == (2, ("cpuset", "cpu", "io", "memory", "pids"))
    for below in ("", "mine.slice", "mine.slice/share.slice", "mine.slice/reserve.slice"):
        assert (tmp_path / below / "cgroup.subtree_control").read_text() == "+cpuset +cpu +io +memory +pids"


@as_root
def test_version_1_is_found_by_its_trees(tmp_path: Path) -> None:
    for name in ("cpu", "memory", "cpuset"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cgroup.procs").touch()
    (tmp_path / "cpuset" / "cpuset.cpus").write_text("0-3\n")

    tree = find_cgroups(mount=tmp_path)

    assert tree is not None
    assert (tree.version, tree.controllers, tree.all_cpus) == (1, ("cpu", "memory"), "0-3")
    assert (tmp_path / "memory" / "nomad").is_dir()


def test_a_machine_without_groups_has_no_limits(tmp_path: Path) -> None:
    assert find_cgroups(mount=tmp_path) is None
