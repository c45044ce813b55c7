"""Processors: how many, how fast, on which NUMA nodes, which of them tasks may use."""

from __future__ import annotations

import os
import re

from yurt.agent.fingerprint.facts import Facts, Probe
from yurt.agent.id_sets import BadIdSet, format_ids, parse_ids
from yurt.model.node import Core, NodeCpu, NodeProcessors, Topology

_CPU_DIR = "/sys/devices/system/cpu"
_NODE_DIR = "/sys/devices/system/node"
_NUMA_NODE = re.compile(r"node(\d+)")
# Where neither the kernel nor the processor tells a speed; only the ratio to what jobs ask for suffers.
UNKNOWN_CORE_MHZ = 1000


def fingerprint_cpu(probe: Probe) -> Facts:
    """Describe every core the machine has; those that tasks may not use are marked disabled."""
    settings = probe.settings
    cores = _cores(probe)
    override = settings.cpu_total_compute_mhz
    total_mhz = override or sum(_core_mhz(core) for core in cores)
    usable = tuple(core for core in cores if not core.disable)
    usable_mhz = total_mhz * len(usable) // len(cores) if override else sum(map(_core_mhz, usable))
    numa_nodes = sorted({core.node_id for core in cores})

    attributes = {
        "cpu.numcores": str(len(cores)),
        "cpu.reservablecores": str(len(usable)),
        "cpu.totalcompute": str(total_mhz),
        "cpu.usablecompute": str(max(0, usable_mhz - settings.reserved.cpu_mhz)),
        "numa.node.count": str(len(numa_nodes)),
        **_speeds(cores, override_mhz=override),
    }
    for node in numa_nodes:
        attributes[f"numa.node{node}.cores"] = format_ids(core.id for core in cores if core.node_id == node)
    if model := _model_name(probe):
        attributes["cpu.modelname"] = model

    return Facts(
        attributes=attributes,
        cpu=NodeCpu(
            cpu_shares=total_mhz,
            total_cpu_cores=len(cores),
            reservable_cpu_cores=tuple(core.id for core in usable),
        ),
        processors=NodeProcessors(
            topology=Topology(
                nodes=tuple(numa_nodes),
                distances=_distances(probe, numa_nodes),
                cores=cores,
                override_total_compute=override,
                override_withhold_compute=settings.reserved.cpu_mhz,
            )
        ),
    )


def _cores(probe: Probe) -> tuple[Core, ...]:
    ids = _ids(probe, f"{_CPU_DIR}/online") or frozenset(range(os.cpu_count() or 1))
    numa_of = _numa_nodes(probe)
    # Intel lists the cores of hybrid processors by kind; elsewhere all cores count as fast ones.
    efficiency = _ids(probe, "/sys/devices/cpu_atom/cpus")
    usable = _usable_cores(probe, ids)
    guesses = _guessed_mhz(probe)
    cores = []
    for core in sorted(ids):
        base_mhz = probe.number(f"{_CPU_DIR}/cpu{core}/cpufreq/base_frequency") // 1000
        max_mhz = probe.number(f"{_CPU_DIR}/cpu{core}/cpufreq/cpuinfo_max_freq") // 1000
        cores.append(
            Core(
                id=core,
                socket_id=probe.number(f"{_CPU_DIR}/cpu{core}/topology/physical_package_id"),
                node_id=numa_of.get(core, 0),
                grade=core not in efficiency,
                disable=core not in usable,
                base_speed=base_mhz,
                max_speed=max_mhz,
                guess_speed=0 if base_mhz or max_mhz else guesses.get(core, UNKNOWN_CORE_MHZ),
            )
        )
    return tuple(cores)


def _usable_cores(probe: Probe, online: frozenset[int]) -> frozenset[int]:
    settings = probe.settings
    usable = online & os.sched_getaffinity(0) or online
    if settings.reservable_cores:
        usable &= parse_ids(settings.reservable_cores)
    return usable - parse_ids(settings.reserved.cores)


def _core_mhz(core: Core) -> int:
    return core.base_speed or core.max_speed or core.guess_speed


def _speeds(cores: tuple[Core, ...], *, override_mhz: int) -> dict[str, str]:
    if override_mhz:
        return {"cpu.frequency": str(override_mhz // len(cores))}
    fast = [core for core in cores if core.grade]
    slow = [core for core in cores if not core.grade]
    if not fast or not slow:
        return {"cpu.frequency": str(_core_mhz(cores[0]))}
    return {
        "cpu.frequency.performance": str(_core_mhz(fast[0])),
        "cpu.frequency.efficiency": str(_core_mhz(slow[0])),
        "cpu.numcores.performance": str(len(fast)),
        "cpu.numcores.efficiency": str(len(slow)),
    }


def _numa_nodes(probe: Probe) -> dict[int, int]:
    """Map each core to its NUMA node; empty on machines that tell of none."""
    numa_of: dict[int, int] = {}
    try:
        names = [entry.name for entry in probe.path(_NODE_DIR).iterdir()]
    except OSError:
        return numa_of
    for name in names:
        if match := _NUMA_NODE.fullmatch(name):
            for core in _ids(probe, f"{_NODE_DIR}/{name}/cpulist"):
                numa_of[core] = int(match[1])
    return numa_of


def _distances(probe: Probe, numa_nodes: list[int]) -> tuple[tuple[int, ...], ...] | None:
    if len(numa_nodes) < 2:
        return None
    return tuple(
        tuple(int(cost) for cost in probe.text(f"{_NODE_DIR}/node{node}/distance").split())
        for node in numa_nodes
    )


def _guessed_mhz(probe: Probe) -> dict[int, int]:
    """A speed for each core of machines that do not tell a rated one."""
    speeds: dict[int, int] = {}
    core = 0
    for name, value in _cpuinfo(probe):
        if name == "processor":
            core = int(value)
        elif name == "cpu MHz":
            speeds[core] = int(float(value))
        elif name == "bogomips" and core in speeds:
            # On x86 this is twice the constant clock. The running speed changes by the second, and equal
            # machines would fall into different classes.
            speeds[core] = int(float(value) / 2)
    return speeds


def _model_name(probe: Probe) -> str:
    return next((value for name, value in _cpuinfo(probe) if name == "model name"), "")


def _cpuinfo(probe: Probe) -> list[tuple[str, str]]:
    pairs = (line.partition(":") for line in probe.text("/proc/cpuinfo").splitlines())
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _ids(probe: Probe, absolute: str) -> frozenset[int]:
    try:
        return parse_ids(probe.text(absolute))
    except BadIdSet:
        return frozenset()
