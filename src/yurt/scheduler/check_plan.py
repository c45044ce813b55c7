"""What every plan must satisfy, checked against the newest State."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from yurt.model.alloc import CLIENT_LOST, CLIENT_UNKNOWN, Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.deployment import Deployment
from yurt.model.node import NODE_DISCONNECTED, NODE_DOWN, NODE_READY, Node
from yurt.model.plan import Placements, Plan, PlanChanges, Preemption, UpdateAlloc
from yurt.model.wire import AllocID, NodeID
from yurt.scheduler.assign.cores import usable_cores
from yurt.scheduler.quota import over_quota
from yurt.scheduler.view import LIMITED, View
from yurt.state.use import DIMENSIONS, Claim, CoreClaim, SharedPortClaim, use_of


class CheckedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What may be committed of a plan, and the nodes that refused their part.

    With `rejected` nodes, whoever made the plan should look again at a State of at least
    `refresh_index`.
    """

    changes: PlanChanges
    rejected: tuple[NodeID, ...] = ()
    refresh_index: int = 0
    # The quota that the plan would exceed; nothing of it may be committed then.
    over_quota: str = ""


def check_plan(view: View, plan: Plan) -> CheckedPlan:
    """Check a plan node by node; what a node cannot take is left out, with all else planned there.

    A node takes new allocations if it is ready and all of them fit beside what is meant to run there,
    less what the plan itself stops, displaces or changes. Allocations that were told to stop earlier
    are not in the way, even while their tasks still end: the node waits for that, not the plan. A plan
    that is to be committed whole or not at all is empty if any node refuses, and any plan that would
    exceed a quota.
    """
    quota = over_quota(view, plan.changes)
    if quota:
        index = max(view.state.allocs.index, view.state.quotas.index, view.state.namespaces.index)
        return CheckedPlan(changes=PlanChanges(), refresh_index=index, over_quota=quota)
    checks = _Checks(view, plan.changes)
    rejected = checks.rejected()
    if not rejected:
        return CheckedPlan(changes=checks.without_vain_preemptions())
    refresh_index = max(view.state.allocs.index, view.state.nodes.index)
    kept = PlanChanges() if plan.all_at_once else checks.without(rejected)
    return CheckedPlan(changes=kept, rejected=tuple(sorted(rejected)), refresh_index=refresh_index)


class _Checks:
    """The checks of one plan."""

    def __init__(self, view: View, changes: PlanChanges) -> None:
        self._view = view
        self._state = view.state
        self._changes = changes
        self._stopped: dict[AllocID, Allocation] = {}
        for alloc_id in self._leaving():
            alloc = self._state.allocs.get(alloc_id)
            if alloc is not None:
                self._stopped[alloc_id] = alloc
        self._updates: dict[NodeID, list[tuple[UpdateAlloc, Allocation]]] = {}
        for update in changes.updates:
            alloc = self._state.allocs.get(update.id)
            if alloc is not None:
                self._updates.setdefault(alloc.node_id, []).append((update, alloc))

    def rejected(self) -> set[NodeID]:
        """The nodes that cannot take what the plan wants of them."""
        new = self._new_by_node()
        rejected = {
            node_id for node_id, updates in self._updates.items() if not self._takes(node_id, updates)
        }
        slots = self._view.columns.slots
        rejected |= {node_id for node_id in new if node_id not in slots}
        present = [node_id for node_id in new if node_id in slots]
        if present:
            at = np.asarray([slots[node_id] for node_id in present], dtype=np.intp)
            fits = self._view.columns.ready[at] & self._has_room(at, present, new)
            rejected |= {node_id for node_id, fit in zip(present, fits.tolist(), strict=True) if not fit}
        rejected |= self._colliding()
        return rejected

    def without_vain_preemptions(self) -> PlanChanges:
        """The plan without preemptions of allocations that have ended meanwhile."""
        changes = self._changes
        kept = tuple(self._real_preemptions())
        return changes if len(kept) == len(changes.preemptions) else replace(changes, preemptions=kept)

    def without(self, rejected: set[NodeID]) -> PlanChanges:
        """The plan without anything that is about `rejected` nodes."""
        changes = self._changes
        gone = {alloc_id for alloc_id, alloc in self._stopped.items() if alloc.node_id in rejected}
        gone |= {update.id for node_id in rejected for update, _ in self._updates.get(node_id, ())}
        placements = tuple(
            kept for one in changes.placements if (kept := _placements_without(one, rejected)).ids
        )
        stops = (
            replace(stop, ids=[alloc_id for alloc_id in stop.ids if alloc_id not in gone])
            for stop in changes.stops
        )
        return replace(
            changes,
            placements=placements,
            stops=tuple(stop for stop in stops if stop.ids),
            updates=tuple(update for update in changes.updates if update.id not in gone),
            preemptions=tuple(one for one in self._real_preemptions() if one.id not in gone),
            deployment=self._with_real_canaries(changes.deployment, placements),
        )

    def _leaving(self) -> Iterator[AllocID]:
        for stop in self._changes.stops:
            yield from stop.ids
        for preemption in self._changes.preemptions:
            yield preemption.id

    def _real_preemptions(self) -> Iterator[Preemption]:
        for preemption in self._changes.preemptions:
            alloc = self._stopped.get(preemption.id)
            if alloc is not None and not alloc.is_terminal and not self._view.is_stopped(alloc.id):
                yield preemption

    def _new_by_node(self) -> dict[NodeID, list[int]]:
        """What new allocations need, by node and dimension."""
        needs: dict[NodeID, list[int]] = {}

        def need(node_id: NodeID, resources: AllocatedResources, times: int) -> None:
            amounts = needs.get(node_id)
            if amounts is None:
                amounts = needs[node_id] = [0] * DIMENSIONS
            for dimension, amount in enumerate(use_of(resources).amounts):
                amounts[dimension] += times * amount

        for placements in self._changes.placements:
            special = {
                position: detail.resources
                for position, detail in placements.details.items()
                if detail.resources is not None
            }
            counts = Counter(placements.node_ids)
            for position, resources in special.items():
                counts[placements.node_ids[position]] -= 1
                need(placements.node_ids[position], resources, 1)
            for node_id, times in counts.items():
                need(node_id, placements.resources, times)
        return needs

    def _has_room(
        self, at: NDArray[np.intp], node_ids: list[NodeID], new: dict[NodeID, list[int]]
    ) -> NDArray[np.bool_]:
        """Whether all that the plan puts on each node fits there."""
        needed = np.asarray([new[node_id] for node_id in node_ids], dtype=np.int64).T
        room = self._view.columns.capacity[:, at] - (self._view.used[:, at] - self._view.stopping[:, at])
        position = {node_id: number for number, node_id in enumerate(node_ids)}
        for alloc in self._stopped.values():
            number = position.get(alloc.node_id)
            if number is not None and not alloc.is_terminal and not self._view.is_stopped(alloc.id):
                room[:, number] += use_of(alloc.resources).amounts
        for node_id, updates in self._updates.items():
            number = position.get(node_id)
            for update, alloc in updates if number is not None else ():
                if update.resources is not None and not alloc.is_terminal:
                    room[:, number] += use_of(alloc.resources).amounts
                    room[:, number] -= use_of(update.resources).amounts
        return np.asarray(((room >= needed) | (needed == 0))[LIMITED].all(axis=0))

    def _takes(self, node_id: NodeID, updates: list[tuple[UpdateAlloc, Allocation]]) -> bool:
        """Whether a node takes changes of allocations that it has already."""
        # What has ended may be written about wherever it ran.
        running = [(update, alloc) for update, alloc in updates if not alloc.is_terminal]
        if not running:
            return True
        node: Node | None = self._state.nodes.get(node_id)
        if node is None:
            return False
        statuses = [(update.client_status or alloc.client_status, alloc) for update, alloc in running]
        if node.status == NODE_DISCONNECTED:
            return all(status == CLIENT_UNKNOWN for status, _ in statuses)
        if node.status == NODE_DOWN:
            return all(
                status == CLIENT_LOST or (status == CLIENT_UNKNOWN and not _is_replaced(alloc))
                for status, alloc in statuses
            )
        return node.status == NODE_READY

    def _colliding(self) -> set[NodeID]:
        """The nodes on which the plan gives away what somebody holds, or the same thing twice."""
        given: set[tuple[NodeID, Claim]] = set()
        colliding: set[NodeID] = set()
        for node_id, claims in self._new_claims():
            slot = self._view.columns.slots.get(node_id)
            if slot is None:
                continue
            for claim in claims:
                if isinstance(claim, SharedPortClaim):
                    continue
                if (node_id, claim) in given or self._is_held(node_id, slot, claim):
                    colliding.add(node_id)
                given.add((node_id, claim))
        return colliding

    def _new_claims(self) -> Iterator[tuple[NodeID, tuple[Claim, ...]]]:
        for placements in self._changes.placements:
            shared = use_of(placements.resources).claims
            if not shared and not placements.details:
                continue
            for position, node_id in enumerate(placements.node_ids):
                detail = placements.details.get(position)
                own = detail.resources if detail is not None else None
                claims = use_of(own).claims if own is not None else shared
                if claims:
                    yield node_id, claims

    def _is_held(self, node_id: NodeID, slot: int, claim: Claim) -> bool:
        if isinstance(claim, CoreClaim):
            node = self._view.columns.nodes[slot]
            if node is not None and claim.core not in usable_cores(node):
                return True
        holders = self._view.claims(slot).get(claim, 0)
        if not holders:
            return False
        stored = [alloc for alloc in self._view.allocs_on(slot) if claim in use_of(alloc.resources).claims]
        staying = sum(not alloc.is_server_terminal and alloc.id not in self._stopped for alloc in stored)
        planned = holders - len(stored)
        return staying + planned > 0

    def _with_real_canaries(
        self, deployment: Deployment | None, placements: tuple[Placements, ...]
    ) -> Deployment | None:
        """The deployment without canaries that were not placed."""
        if deployment is None:
            return None
        placed = {alloc_id for one in placements for alloc_id in one.ids}
        groups = {}
        for name, group in deployment.task_groups.items():
            canaries = tuple(
                alloc_id
                for alloc_id in group.placed_canaries or ()
                if alloc_id in placed or AllocID(alloc_id) in self._state.allocs
            )
            groups[name] = (
                replace(group, placed_canaries=canaries or None) if group.placed_canaries else group
            )
        return replace(deployment, task_groups=groups)


def _placements_without(placements: Placements, rejected: set[NodeID]) -> Placements:
    if rejected.isdisjoint(placements.node_ids):
        return placements
    kept = [position for position, node_id in enumerate(placements.node_ids) if node_id not in rejected]
    return replace(
        placements,
        ids=[placements.ids[position] for position in kept],
        name_indexes=[placements.name_indexes[position] for position in kept],
        node_ids=[placements.node_ids[position] for position in kept],
        details={
            number: placements.details[position]
            for number, position in enumerate(kept)
            if position in placements.details
        },
    )


def _is_replaced(alloc: Allocation) -> bool:
    """Whether an allocation is replaced while its node is disconnected."""
    group = alloc.job.group(alloc.task_group)
    disconnect = group.disconnect if group is not None else None
    return disconnect is None or disconnect.replace is not False
