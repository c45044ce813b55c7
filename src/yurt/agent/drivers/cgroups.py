"""Which control groups a task lives in, and the limits written there."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from yurt.agent.drivers.driver import TaskResources
from yurt.agent.launcher import Cgroups

MOUNT = Path("/sys/fs/cgroup")
PARENT_V1 = "nomad"
PARENT_V2 = "nomad.slice"
# Of version 2: where tasks live that share cores, and where those that have cores of their own.
SHARED_PART, RESERVED_PART = "share.slice", "reserve.slice"
_CONTROLLERS_V1 = ("cpu", "memory")
_CONTROLLERS_V2 = ("cpuset", "cpu", "io", "memory", "pids")
_MIB = 1 << 20
# The kernel's bounds of cpu.shares and of cpu.weight, which took its place.
_SHARES_MIN, _SHARES_MAX = 2, 262_144
_WEIGHT_MIN, _WEIGHT_MAX = 1, 10_000


class CgroupTree(msgspec.Struct, frozen=True, kw_only=True):
    """The machine's control groups, as far as this agent may use them.

    `controllers` are those with limits to write: of version 1 each has a tree of its own below `mount`.
    `home` are the groups of version 1 that this agent is in, by controller.
    """

    version: int
    mount: str
    parent: str
    controllers: tuple[str, ...]
    home: dict[str, str] = {}
    has_swappiness: bool = False
    all_cpus: str = ""
    all_memory_nodes: str = ""


def find_cgroups(*, mount: Path = MOUNT, parent: str = "") -> CgroupTree | None:
    """Make the groups above those of tasks, and tell what there is; None when none can be used.

    Without root, or in a container with a read-only tree, tasks run without limits.
    """
    if os.geteuid() != 0:
        return None
    try:
        if (mount / "cgroup.controllers").exists():
            return _prepare_v2(mount, parent or PARENT_V2)
        return _prepare_v1(mount, parent.strip("/") or PARENT_V1)
    except OSError:
        return None


def _prepare_v1(mount: Path, parent: str) -> CgroupTree | None:
    controllers = tuple(name for name in _CONTROLLERS_V1 if (mount / name / "cgroup.procs").exists())
    for name in controllers:
        (mount / name / parent).mkdir(parents=True, exist_ok=True)
    if not controllers:
        return None
    return CgroupTree(
        version=1,
        mount=str(mount),
        parent=parent,
        controllers=controllers,
        home=_home(mount),
        has_swappiness=(mount / "memory/memory.swappiness").exists(),
        all_cpus=_text(mount / "cpuset/cpuset.cpus"),
        all_memory_nodes=_text(mount / "cpuset/cpuset.mems"),
    )


def _prepare_v2(mount: Path, parent: str) -> CgroupTree | None:
    available = _text(mount / "cgroup.controllers").split()
    controllers = tuple(name for name in _CONTROLLERS_V2 if name in available)
    if "memory" not in controllers:
        return None
    for path in (
        mount,
        mount / parent,
        *(mount / parent / part for part in (SHARED_PART, RESERVED_PART)),
    ):
        path.mkdir(exist_ok=True)
        (path / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))
    return CgroupTree(version=2, mount=str(mount), parent=parent, controllers=controllers)


def _home(mount: Path) -> dict[str, str]:
    """The groups of version 1 that this process is in, by controller."""
    home = {}
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            home[controller] = f"{mount}/{controller}{path}"
    return home


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def task_cgroups(tree: CgroupTree, alloc_id: str, task: str, resources: TaskResources) -> Cgroups:
    """The groups of one task, with its limits."""
    plan = _plan_v2 if tree.version == 2 else _plan_v1
    return plan(tree, f"{alloc_id}.{task}", resources)


def _plan_v1(tree: CgroupTree, name: str, resources: TaskResources) -> Cgroups:
    groups = {
        controller: f"{tree.mount}/{controller}/{tree.parent}/{name}" for controller in tree.controllers
    }
    writes: list[tuple[str, str]] = []
    if "memory" in groups:
        writes += _memory_v1(groups["memory"], resources, has_swappiness=tree.has_swappiness)
    if "cpu" in groups and resources.cpu_shares:
        writes.append((f"{groups['cpu']}/cpu.shares", str(_clamped_shares(resources.cpu_shares))))
    above: list[str] = []
    if resources.cores and tree.all_cpus:
        parent = f"{tree.mount}/cpuset/{tree.parent}"
        above = [parent, f"{parent}/reserve"]
        groups["cpuset"] = f"{parent}/reserve/{name}"
        # A new cpuset is empty, and must hold cpus and memory before a process may join it.
        for path in (*above, groups["cpuset"]):
            cpus = _cores(resources) if path == groups["cpuset"] else tree.all_cpus
            writes += [(f"{path}/cpuset.cpus", cpus), (f"{path}/cpuset.mems", tree.all_memory_nodes)]
    oom_counter = f"{groups['memory']}/memory.oom_control" if "memory" in groups else ""
    own = tuple(groups.values())
    home = tuple(tree.home[name] for name in groups if name in tree.home)
    return Cgroups(make=own, write=tuple(writes), join=own, home=home, oom_counter=oom_counter)


def _memory_v1(group: str, resources: TaskResources, *, has_swappiness: bool) -> list[tuple[str, str]]:
    hard_mb, soft_mb = memory_limits_mb(resources)
    writes = []
    if hard_mb:
        writes.append((f"{group}/memory.limit_in_bytes", str(hard_mb * _MIB)))
    if soft_mb:
        writes.append((f"{group}/memory.soft_limit_in_bytes", str(soft_mb * _MIB)))
    if has_swappiness:
        writes.append((f"{group}/memory.swappiness", "0"))
    return writes


def _plan_v2(tree: CgroupTree, name: str, resources: TaskResources) -> Cgroups:
    part = RESERVED_PART if resources.cores else SHARED_PART
    group = f"{tree.mount}/{tree.parent}/{part}/{name}.scope"
    hard_mb, soft_mb = memory_limits_mb(resources)
    writes = []
    if hard_mb:
        writes.append((f"{group}/memory.max", str(hard_mb * _MIB)))
    if soft_mb:
        writes.append((f"{group}/memory.low", str(soft_mb * _MIB)))
    if "cpu" in tree.controllers and resources.cpu_shares:
        writes.append((f"{group}/cpu.weight", str(cpu_weight(resources.cpu_shares))))
    if "cpuset" in tree.controllers and resources.cores:
        writes.append((f"{group}/cpuset.cpus", _cores(resources)))
    return Cgroups(
        make=(group,),
        write=tuple(writes),
        join=(group,),
        oom_counter=f"{group}/memory.events",
    )


def memory_limits_mb(resources: TaskResources) -> tuple[int, int]:
    """The hard limit and the soft one; 0 is no limit."""
    if resources.memory_max_mb == 0:
        return resources.memory_mb, 0
    return max(resources.memory_max_mb, 0), resources.memory_mb


def cpu_weight(shares: int) -> int:
    """The weight of version 2 for shares of version 1, which have another scale."""
    scaled = (_clamped_shares(shares) - _SHARES_MIN) * (_WEIGHT_MAX - _WEIGHT_MIN)
    return _WEIGHT_MIN + scaled // (_SHARES_MAX - _SHARES_MIN)


def _clamped_shares(shares: int) -> int:
    return min(max(shares, _SHARES_MIN), _SHARES_MAX)


def _cores(resources: TaskResources) -> str:
    return ",".join(str(core) for core in resources.cores)


def override_cgroups(v1: dict[str, str], v2: str, *, mount: str = str(MOUNT)) -> Cgroups:
    """The groups that a job names itself, instead of a task's own; they exist already, and stay."""
    if v2:
        return Cgroups(join=(_below(mount, v2),))
    return Cgroups(join=tuple(_below(f"{mount}/{controller}", path) for controller, path in v1.items()))


def _below(mount: str, path: str) -> str:
    return path if path.startswith(f"{mount}/") else f"{mount}/{path.strip('/')}"
