"""Updating in place: whether instances can take a new job version over on the nodes they are on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.wire import AllocID
from yurt.scheduler.ask import ask_of
from yurt.scheduler.configuration import effective_configuration
from yurt.scheduler.feasible import volumes
from yurt.scheduler.feasible.distinct import DistinctHosts, DistinctProperty, distinct_properties
from yurt.scheduler.feasible.group import feasibility
from yurt.scheduler.view import View


def fit_in_place(
    view: View,
    job: Job,
    group: TaskGroup,
    allocs: Sequence[Allocation],
    *,
    turned_away: dict[str, set[int]] | None = None,
) -> dict[AllocID, AllocatedResources]:
    """Say what each of `allocs` gets in `job` on its own node; those whose node no longer suits are left out.

    The nodes need not be ready for new work. Ports, networks, devices and cores stay what they are;
    the view shows what changes. `turned_away` takes the classes of nodes that rules turned away, by group.
    """
    checker = _Checker(view, job, group)
    fitting = {alloc.id: kept for alloc in allocs if (kept := checker.check(alloc)) is not None}
    if turned_away is not None and checker.turned_away:
        turned_away.setdefault(group.name, set()).update(checker.turned_away)
    return fitting


class _Checker:
    """Checks instances of one group against a new version of it."""

    def __init__(self, view: View, job: Job, group: TaskGroup) -> None:
        self._view = view
        self._job = job
        self._group = group
        configuration = effective_configuration(view.state, job, view.state.scheduler_configuration)
        oversubscribe = configuration.memory_oversubscription_enabled
        self._asked = ask_of(group, oversubscribe=oversubscribe).resources
        self._allowed: NDArray[np.bool_] = np.ones(view.size, dtype=np.bool_)
        self._found = feasibility(view.columns, job, group)
        for rule in self._found.rules:
            self._allowed &= rule.mask
        # The classes, by code, of the nodes that rules turned away.
        self.turned_away: set[int] = set()
        self._hosts = DistinctHosts(view, job, group)
        self._properties: list[DistinctProperty] = list(distinct_properties(view, job, group))
        self._merged: dict[int, AllocatedResources] = {}
        self._overfull: dict[int, bool] = {}

    def check(self, alloc: Allocation) -> AllocatedResources | None:
        """What an instance gets on its node; None if it cannot stay there."""
        slot = self._view.columns.slots.get(alloc.node_id)
        if slot is None:
            return None
        if not self._allowed[slot]:
            code = self._found.turned_away_class(slot)
            if code is not None:
                self.turned_away.add(code)
            return None
        if not self._has_its_volumes(alloc, slot):
            return None
        if self._hosts.is_asked and self._hosts.taken().get(slot, 0) > 1:
            return None
        if any(one.used[one.column.codes[slot]] > one.allowed for one in self._properties):
            return None
        known = self._merged.get(id(alloc.resources))
        if known is None:
            known = self._merged[id(alloc.resources)] = _keeping_choices(alloc.resources, self._asked)
        if known is alloc.resources:
            return known if not self._is_overfull(slot) else None
        return self._swap(alloc, slot, known)

    def _has_its_volumes(self, alloc: Allocation, slot: int) -> bool:
        if not volumes.volumes_per_alloc(self._group):
            return True
        mask = volumes.nodes_with_volumes(
            self._view.columns, self._job.namespace, self._group, alloc.name_index
        )
        return mask is None or bool(mask[slot])

    def _is_overfull(self, slot: int) -> bool:
        known = self._overfull.get(slot)
        if known is None:
            known = self._overfull[slot] = self._view.is_overfull(slot)
        return known

    def _swap(self, alloc: Allocation, slot: int, resources: AllocatedResources) -> AllocatedResources | None:
        """Show in the view that an instance uses something else from now on, if there is room for that."""
        view, key, group = self._view, self._job.key, self._group.name
        view.stop(alloc)
        view.place(key, group, slot, resources)
        self._overfull.pop(slot, None)
        if not view.is_overfull(slot):
            return resources
        view.place(key, group, slot, resources, times=-1)
        view.unstop(alloc)
        return None


def _keeping_choices(old: AllocatedResources, asked: AllocatedResources) -> AllocatedResources:
    """What is asked for, with the choices made before; `old` itself if that changes nothing."""
    tasks = {}
    for name, wanted in asked.tasks.items():
        had = old.tasks.get(name)
        if had is None:
            tasks[name] = wanted
            continue
        tasks[name] = replace(
            wanted,
            cpu=had.cpu if had.cpu.reserved_cores else wanted.cpu,
            networks=had.networks,
            devices=had.devices,
        )
    shared = replace(asked.shared, networks=old.shared.networks, ports=old.shared.ports)
    merged = replace(asked, tasks=tasks, shared=shared)
    # Allocations share what they were given; equal but separate objects would cost memory for nothing.
    return old if merged == old else merged
