"""A view of State that also shows what this batch of evaluations has planned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from yurt.model.alloc import Allocation
from yurt.model.allocated import AllocatedResources
from yurt.model.job import Job, JobKey
from yurt.model.plan import PlanChanges
from yurt.model.wire import AllocID, NodeID
from yurt.scheduler.job_places import JobPlaces
from yurt.state.claims import change_claims
from yurt.state.columns import add_use
from yurt.state.quota_use import NOTHING, QuotaAmounts, quota_amounts
from yurt.state.state import State
from yurt.state.use import (
    ALLOCS,
    CORES,
    CPU,
    DISK,
    MBITS,
    MEMORY,
    Claim,
    DeviceKey,
    SharedPortClaim,
    Use,
    use_of,
)

# The dimensions that have a limit; ports in use are counted over all addresses, dynamic or not.
LIMITED = [CPU, MEMORY, DISK, ALLOCS, MBITS, CORES]

# Up to so many placements are entered one by one; more are counted in columns of all nodes.
PLACED_ALONE_MAX = 8


class View:
    """State plus plans that are not committed yet.

    Several evaluations are scheduled against one view, each seeing the ones before it. Placing enters
    what it places by itself; `stop` frees what a plan in the making stops; `add` takes over a whole
    plan that was made elsewhere. State itself is never changed, and must not change while the view is
    in use. Making one costs a copy of the columns of use; all else is copied when first changed.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self.columns = state.columns
        self.size = state.columns.size
        # What allocations use whose tasks may still run, and the part of it that is told to stop.
        self.used: NDArray[np.int64] = state.columns.used[:, : self.size].copy()
        self.stopping: NDArray[np.int64] = state.columns.stopping[:, : self.size]
        self._owns_stopping = False
        self._devices: dict[DeviceKey, NDArray[np.int64]] = {}
        self._claims: dict[int, dict[Claim, int]] = {}
        self._stopped: dict[AllocID, Allocation] = {}
        self._placed: dict[JobKey, list[tuple[str, Mapping[int, int]]]] = {}
        self._places: dict[JobKey, JobPlaces] = {}
        self._preempted: dict[tuple[JobKey, str], int] = {}
        # What plans add to the use of quotas; not looked at where no namespace has one.
        self._has_quotas = state.quota_uses.is_needed
        self._quota_added: dict[str, QuotaAmounts] = {}
        # Slots in the order in which what is in use there has changed since the view was made.
        self.changed: list[int] = []
        # What takes long to work out and is kept current by means of `changed`, for those who schedule.
        self.memo: dict[Hashable, Any] = {}

    def release(self) -> None:
        """Let go of what was kept for the next evaluation, once there is none.

        It refers back to the view, and to columns as long as the cluster is large: without this, they
        would stay until the collector comes by, and each view would have to find new memory.
        """
        self.memo.clear()

    def devices_in_use(self, key: DeviceKey) -> NDArray[np.int64]:
        """How many devices of one kind are in use, by slot; not to be changed."""
        column = self._devices.get(key)
        return column if column is not None else self.columns.devices_in_use(key)[: self.size]

    def claims(self, slot: int) -> Mapping[Claim, int]:
        """How many allocations hold each claim of a node."""
        held = self._claims.get(slot)
        return held if held is not None else self.state.allocs.claims.of(self._node_id(slot))

    def places(self, job: Job) -> JobPlaces:
        """Where the allocations of a job are."""
        places = self._places.get(job.key)
        if places is None:
            places = self._places[job.key] = JobPlaces(job.create_index)
            places.count_stored(self.state.allocs.of_job(job.key), self.columns.slots, self._stopped)
            for group, counts in self._placed.get(job.key, ()):
                places.count_new(group, counts)
        return places

    def allocs_on(self, slot: int) -> Iterator[Allocation]:
        """The stored allocations of a node whose tasks may still run and that no plan stops."""
        for alloc in self.state.allocs.of_node(self._node_id(slot)):
            if not alloc.is_client_terminal and alloc.id not in self._stopped:
                yield alloc

    def is_stopped(self, alloc_id: AllocID) -> bool:
        """Whether a plan shown here stops or displaces an allocation."""
        return alloc_id in self._stopped

    def quota_used(self, quota: str) -> QuotaAmounts:
        """What the namespaces of a quota use together, with what is planned."""
        used = self.state.quota_uses.used(quota)
        added = self._quota_added.get(quota)
        return used if added is None else used.plus(added)

    def preempted_of(self, key: JobKey, group: str) -> int:
        """How many allocations of a group plans displace so far."""
        return self._preempted.get((key, group), 0)

    def place(
        self, key: JobKey, group: str, slot: int, resources: AllocatedResources, times: int = 1
    ) -> None:
        """Show `times` new allocations of a group on one node."""
        self._count_quota(key.namespace, resources, times)
        self._change_use(slot, use_of(resources), times)
        self._note_placed(key, group, {slot: times})

    def place_each(
        self, key: JobKey, group: str, slots: NDArray[np.intp], resources: AllocatedResources
    ) -> None:
        """Show one new allocation of a group for each of `slots`, which may repeat."""
        if len(slots) <= PLACED_ALONE_MAX:
            for slot in slots.tolist():
                self.place(key, group, slot, resources)
            return
        self._count_quota(key.namespace, resources, len(slots))
        use = use_of(resources)
        counts = np.bincount(slots, minlength=self.size)
        for dimension, amount in enumerate(use.amounts):
            if amount:
                self.used[dimension] += counts * amount
        filled = np.flatnonzero(counts)
        by_slot = dict(zip(filled.tolist(), counts[filled].tolist(), strict=True))
        self.changed += by_slot
        if use.claims or use.devices:
            for slot, times in by_slot.items():
                self._change_exclusive(slot, use, times)
        self._note_placed(key, group, by_slot)

    def stop(self, alloc: Allocation) -> None:
        """Show the room that an allocation leaves when it is stopped. Stopping twice is stopping once."""
        if alloc.id in self._stopped:
            return
        self._stopped[alloc.id] = alloc
        self._count_stopped(alloc, -1)

    def unstop(self, alloc: Allocation) -> None:
        """Take back a `stop`."""
        if self._stopped.pop(alloc.id, None) is not None:
            self._count_stopped(alloc, 1)

    def preempt(self, alloc: Allocation) -> None:
        """Show the room that an allocation leaves when it is displaced."""
        if alloc.id not in self._stopped:
            of = (alloc.job_key, alloc.task_group)
            self._preempted[of] = self._preempted.get(of, 0) + 1
            self.stop(alloc)

    def unpreempt(self, alloc: Allocation) -> None:
        """Take back a `preempt`."""
        if alloc.id in self._stopped:
            self._preempted[alloc.job_key, alloc.task_group] -= 1
            self.unstop(alloc)

    def is_overfull(self, slot: int) -> bool:
        """Whether more is planned on a node than it has, or something is given out twice."""
        if (self.used[:, slot] > self.columns.capacity[:, slot])[LIMITED].any():
            return True
        return any(
            holders > 1 and not isinstance(claim, SharedPortClaim)
            for claim, holders in self.claims(slot).items()
        )

    def add(self, changes: PlanChanges) -> None:
        """Take over what a plan changes that was made elsewhere."""
        for alloc in self._stored(alloc_id for stop in changes.stops for alloc_id in stop.ids):
            self.stop(alloc)
        for alloc in self._stored(preemption.id for preemption in changes.preemptions):
            self.preempt(alloc)
        for update in changes.updates:
            stored = self.state.allocs.get(update.id)
            if stored is not None and update.resources is not None and not stored.is_terminal:
                self._count_quota(stored.namespace, stored.resources, -1)
                self._count_quota(stored.namespace, update.resources, 1)
            slot = self.columns.slots.get(stored.node_id) if stored is not None else None
            if stored is None or slot is None or update.resources is None or stored.is_client_terminal:
                continue
            self._change_use(slot, use_of(stored.resources), -1)
            self._change_use(slot, use_of(update.resources), 1)
        slots = self.columns.slots
        for placements in changes.placements:
            key, group, details = placements.job.key, placements.task_group, placements.details
            plain = [
                slot
                for position, node_id in enumerate(placements.node_ids)
                if (slot := slots.get(node_id)) is not None
                and not (details and position in details and details[position].resources is not None)
            ]
            if plain:
                self.place_each(key, group, np.asarray(plain, dtype=np.intp), placements.resources)
            for position, detail in details.items():
                slot = slots.get(placements.node_ids[position])
                if slot is not None and detail.resources is not None:
                    self.place(key, group, slot, detail.resources)

    def _stored(self, alloc_ids: Iterable[AllocID]) -> Iterator[Allocation]:
        for alloc_id in alloc_ids:
            alloc = self.state.allocs.get(alloc_id)
            if alloc is not None:
                yield alloc

    def _count_quota(self, namespace: str, resources: AllocatedResources, times: int) -> None:
        if not self._has_quotas:
            return
        quota = self.state.quota_uses.quota_of(namespace)
        if quota:
            added = self._quota_added.get(quota, NOTHING)
            self._quota_added[quota] = added.plus(quota_amounts(resources), times)

    def _count_stopped(self, alloc: Allocation, times: int) -> None:
        if not alloc.is_terminal:
            self._count_quota(alloc.namespace, alloc.resources, times)
        slot = self.columns.slots.get(alloc.node_id)
        if slot is None or alloc.is_client_terminal:
            return
        use = use_of(alloc.resources)
        self._change_use(slot, use, times)
        if alloc.is_server_terminal:
            if not self._owns_stopping:
                self.stopping = self.stopping.copy()
                self._owns_stopping = True
            add_use(self.stopping, slot, use, times)
        places = self._places.get(alloc.job_key)
        if places is not None:
            places.count_alloc(alloc, slot, times)

    def _change_use(self, slot: int, use: Use, times: int) -> None:
        add_use(self.used, slot, use, times)
        self.changed.append(slot)
        self._change_exclusive(slot, use, times)

    def _change_exclusive(self, slot: int, use: Use, times: int) -> None:
        if use.claims:
            held = self._claims.get(slot)
            if held is None:
                held = self._claims[slot] = dict(self.state.allocs.claims.of(self._node_id(slot)))
            change_claims(held, use.claims, times)
        for key, count in use.devices:
            column = self._devices.get(key)
            if column is None:
                column = self._devices[key] = self.columns.devices_in_use(key)[: self.size].copy()
            column[slot] += times * count

    def _note_placed(self, key: JobKey, group: str, counts: Mapping[int, int]) -> None:
        self._placed.setdefault(key, []).append((group, counts))
        places = self._places.get(key)
        if places is not None:
            places.count_new(group, counts)

    def _node_id(self, slot: int) -> NodeID:
        node_id = self.columns.node_ids[slot]
        assert node_id is not None, f"slot {slot} has no node"
        return node_id
