"""The control groups of a container: who makes them, and what may be done with devices there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from yurt.agent.drivers.cgroups import CgroupTree, task_cgroups
from yurt.agent.drivers.driver import TaskSpec
from yurt.agent.drivers.exec.runtime import Runtime
from yurt.agent.launcher import Cgroups

PID_MAX = Path("/proc/sys/kernel/pid_max")
# A task of many threads must not be stopped, nor the machine run out of pids because of one task.
_PIDS_SHARE = 2
# Any device node may be made, but only these be used: null, zero, full, tty, random, urandom, ptmx, ptys.
_DEVICES = ("c *:* m", "b *:* m", "c 1:3 rwm", "c 1:5 rwm", "c 1:7 rwm", "c 5:0 rwm", "c 1:8 rwm")
_MORE_DEVICES = ("c 1:9 rwm", "c 5:2 rwm", "c 136:* rwm")


class ContainerGroups(msgspec.Struct, frozen=True, kw_only=True):
    """How a container gets into its groups.

    The supervisor makes and limits them. With a `path`, the runtime moves the container there; else the
    runtime is started inside of them, for which the mounts `hidden` must be kept from it.
    """

    cgroups: Cgroups
    path: str = ""
    cpus: str = ""
    hidden: tuple[str, ...] = ()


def pids_limit_default() -> int:
    """Half of the pids the machine has."""
    try:
        return int(PID_MAX.read_text()) // _PIDS_SHARE
    except (OSError, ValueError):
        return 0


def container_groups(
    tree: CgroupTree,
    runtime: Runtime,
    spec: TaskSpec,
    *,
    pids_max: int,
    device_rules: Iterable[str] = (),
) -> ContainerGroups:
    """The groups of a task's container. Where the machine has version 2, the runtime must be the one to
    attach the rule about devices, so the container is moved; in version 1 all is done beforehand.
    """
    plan = task_cgroups(tree, spec.alloc_id, spec.task, spec.resources)
    if tree.version == 2:
        group = plan.make[0]
        if pids_max and "pids" in tree.controllers:
            plan = _with(plan, write=[(f"{group}/pids.max", str(pids_max))])
        return ContainerGroups(cgroups=_unjoined(plan), path=group.removeprefix(tree.mount))
    mount, name = Path(tree.mount), f"{tree.parent}/{spec.alloc_id}.{spec.task}"
    if pids_max and (mount / "pids").is_dir():
        plan = _with(plan, f"{mount}/pids/{name}", write=[(f"{mount}/pids/{name}/pids.max", str(pids_max))])
    if runtime.needs_cgroups:
        others = [f"{mount}/{controller}/{name}" for controller in _controllers(mount)]
        plan = _with(plan, *(path for path in others if path not in plan.make))
        cpus = ",".join(str(core) for core in spec.resources.cores)
        return ContainerGroups(cgroups=_unjoined(plan), path=f"/{name}", cpus=cpus)
    if (mount / "devices").is_dir():
        group = f"{mount}/devices/{name}"
        allowed = [(f"{group}/devices.allow", rule) for rule in (*_DEVICES, *_MORE_DEVICES, *device_rules)]
        plan = _with(plan, group, write=[(f"{group}/devices.deny", "a"), *allowed])
    return ContainerGroups(cgroups=plan, hidden=_hybrid_mount(mount))


def _hybrid_mount(mount: Path) -> tuple[str, ...]:
    """The mount of version 2 beside version 1: crun refuses to work where it sees controllers in it."""
    unified = mount / "unified"
    return (str(unified),) if (unified / "cgroup.controllers").exists() else ()


def _controllers(mount: Path) -> list[str]:
    return [entry.name for entry in mount.iterdir() if entry.is_dir() and not entry.is_symlink()]


def _with(plan: Cgroups, *make: str, write: list[tuple[str, str]] | None = None) -> Cgroups:
    return msgspec.structs.replace(
        plan, make=(*plan.make, *make), join=(*plan.join, *make), write=(*plan.write, *(write or ()))
    )


def _unjoined(plan: Cgroups) -> Cgroups:
    return msgspec.structs.replace(plan, join=())
