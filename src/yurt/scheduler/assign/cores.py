"""Cores that tasks have to themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from yurt.model.node import Node
from yurt.state.use import Claim, CoreClaim

EXHAUSTED = "cores"


def usable_cores(node: Node) -> dict[int, int]:
    """The cores of a node that tasks may have to themselves, with their speed in MHz, lowest id first."""
    kept = set(node.reserved_resources.cpu.reserved_cpu_cores or ())
    reservable = set(node.node_resources.cpu.reservable_cpu_cores or ()) - kept
    topology = node.node_resources.processors.topology
    speeds = {
        core.id: core.base_speed or core.max_speed or core.guess_speed
        for core in (topology.cores if topology is not None else None) or ()
        if not core.disable
    }
    return {core: speeds[core] for core in sorted(reservable & speeds.keys())}


def assign_cores(
    node: Node, held: Mapping[Claim, int], wanted: Iterable[tuple[str, int]]
) -> dict[str, tuple[tuple[int, ...], int]] | None:
    """Give each task its lowest free cores, with the sum of their MHz; None if there are too few."""
    free = [(core, mhz) for core, mhz in usable_cores(node).items() if CoreClaim(core) not in held]
    given: dict[str, tuple[tuple[int, ...], int]] = {}
    for task, count in wanted:
        if len(free) < count:
            return None
        taken, free = free[:count], free[count:]
        given[task] = tuple(core for core, _ in taken), sum(mhz for _, mhz in taken)
    return given
