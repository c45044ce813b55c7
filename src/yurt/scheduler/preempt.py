"""Preemption: which less important allocations make room on a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import exp, sqrt

from yurt.model.alloc import Allocation
from yurt.model.job import BATCH, SERVICE, SYSBATCH, SYSTEM, Job
from yurt.model.node import Node, NodeDeviceResource
from yurt.model.resources import RequestedDevice
from yurt.model.scheduler_configuration import PRIORITY_DELTA_DEFAULT, PreemptionConfig
from yurt.scheduler.ask import Ask
from yurt.scheduler.feasible.devices import matches, node_devices, usable_ids
from yurt.scheduler.feasible.networks import DEFAULT_HOST_NETWORK
from yurt.scheduler.feasible.targets import resolve
from yurt.scheduler.view import View
from yurt.state.use import (
    ALLOCS,
    CORES,
    CPU,
    DISK,
    MBITS,
    MEMORY,
    Claim,
    DeviceClaim,
    PortClaim,
    SharedPortClaim,
    use_of,
)

# What each preemption beyond a group's migrate.max_parallel adds to the distance of its allocations.
MAX_PARALLEL_PENALTY = 50.0
LOGISTIC_RATE, LOGISTIC_ORIGIN = 0.0048, 2048.0

_COVERED = (CPU, MEMORY, DISK, ALLOCS, CORES)
_DISTANCE = (MEMORY, CPU, DISK)


def may_preempt(configuration: PreemptionConfig, job_type: str) -> bool:
    """Whether jobs of a type may displace others."""
    return {
        SYSTEM: configuration.system_scheduler_enabled,
        SYSBATCH: configuration.sysbatch_scheduler_enabled,
        BATCH: configuration.batch_scheduler_enabled,
        SERVICE: configuration.service_scheduler_enabled,
    }.get(job_type, False)


def preemption_score(victims: Iterable[Allocation]) -> float:
    """Near 1 for few victims of low priority, falling towards 0."""
    priorities = [alloc.job.priority for alloc in victims]
    highest = max(priorities)
    net = highest + sum(priorities) / highest
    return 1.0 / (1.0 + exp(LOGISTIC_RATE * (net - LOGISTIC_ORIGIN)))


def find_victims(
    view: View, slot: int, job: Job, ask: Ask, cpu_mhz: int, *, delta_min: int = PRIORITY_DELTA_DEFAULT
) -> list[Allocation] | None:
    """The allocations to displace on a node so that `ask` fits there; None if that cannot be.

    `cpu_mhz` is the CPU that one instance needs on this node, `delta_min` by how much the priority of
    victims must be below the job's. Ports, then devices, then amounts are
    made free; what one step takes counts for the next.
    """
    search = _Search(view, slot, job, ask, cpu_mhz, delta_min)
    if not search.has_eligible:
        return None
    for step in (search.free_ports, search.free_bandwidth, search.free_devices, search.free_amounts):
        if not step():
            return None
    return search.chosen


class _Search:
    """The search for victims on one node."""

    def __init__(self, view: View, slot: int, job: Job, ask: Ask, cpu_mhz: int, delta_min: int) -> None:
        node = view.columns.nodes[slot]
        assert node is not None, f"slot {slot} has no node"
        self._view = view
        self._node: Node = node
        self._slot = slot
        self._ask = ask
        self._needed = list(ask.amounts)
        self._needed[CPU] = cpu_mhz
        self._allocs = list(view.allocs_on(slot))
        self._eligible = sorted(
            (
                alloc
                for alloc in self._allocs
                if alloc.job_key != job.key and job.priority - alloc.job.priority >= delta_min
            ),
            key=lambda alloc: alloc.job.priority,
        )
        self.chosen: list[Allocation] = []

    @property
    def has_eligible(self) -> bool:
        """Whether anybody may be displaced at all."""
        return bool(self._eligible)

    def free_ports(self) -> bool:
        """Displace who holds the static ports of the group's network."""
        network = self._ask.network
        for port in (network.reserved_ports or ()) if network is not None else ():
            if port.ignore_collision:
                continue
            alias = resolve(self._node, port.host_network) or DEFAULT_HOST_NETWORK
            addresses = [
                address.address
                for interface in self._node.node_resources.node_networks or ()
                for address in interface.addresses or ()
                if address.alias == alias
            ]
            if not self._free_port(addresses, port.value):
                return False
        return True

    def _free_port(self, addresses: Sequence[str], port: int) -> bool:
        for ip in addresses:
            claims: set[Claim] = {PortClaim(ip, port), SharedPortClaim(ip, port)}
            holders = [alloc for alloc in self._allocs if claims.intersection(use_of(alloc.resources).claims)]
            held = sum(self._view.claims(self._slot).get(claim, 0) for claim in claims)
            # Somebody who is planned but not stored holds it, or somebody who must not be displaced.
            if held > len(holders) or not all(holder in self._eligible for holder in holders):
                continue
            self._choose(holder for holder in holders if holder not in self.chosen)
            return True
        return False

    def free_bandwidth(self) -> bool:
        """Displace allocations until the tasks' networks have the bandwidth they ask for."""
        asked = self._needed[MBITS]
        if not asked:
            return True
        if int(self._view.columns.capacity[MBITS, self._slot]) < asked:
            return False

        def distance(alloc: Allocation) -> float:
            return abs(asked - use_of(alloc.resources).amounts[MBITS]) / asked

        kept = list(self.chosen)
        for _, group in groupby(self._left(), key=lambda alloc: alloc.job.priority):
            for alloc in sorted(group, key=lambda alloc: distance(alloc) + self._penalty(alloc)):
                if self._room(MBITS) >= asked:
                    break
                if use_of(alloc.resources).amounts[MBITS]:
                    self._choose((alloc,))
        if self._room(MBITS) < asked:
            return False
        added = sorted((a for a in self.chosen if a not in kept), key=distance, reverse=True)
        self.chosen = kept
        for alloc in added:
            if self._room(MBITS) >= asked:
                break
            self._choose((alloc,))
        return True

    def free_devices(self) -> bool:
        """Displace allocations until each request can be served whole from one group of devices."""
        for _, request in self._ask.devices:
            options = [
                option
                for device in node_devices(self._node)
                if matches(device, request) and (option := self._device_option(device, request)) is not None
            ]
            if not options:
                return False
            self._choose(min(options, key=lambda option: sum({alloc.job.priority for alloc in option})))
        return True

    def _device_option(self, device: NodeDeviceResource, request: RequestedDevice) -> list[Allocation] | None:
        usable = {
            DeviceClaim(device.vendor, device.type, device.name, device_id)
            for device_id in usable_ids(device, request)
        }
        if len(usable) < request.count:
            return None
        held = self._view.claims(self._slot)
        free = sum(claim not in held for claim in usable)
        free += sum(len(usable.intersection(use_of(alloc.resources).claims)) for alloc in self.chosen)
        users = [(len(usable.intersection(use_of(alloc.resources).claims)), alloc) for alloc in self._left()]
        gathered: list[tuple[int, Allocation]] = []
        for count, alloc in users:
            if free + sum(taken for taken, _ in gathered) >= request.count:
                break
            if count:
                gathered.append((count, alloc))
        missing = request.count - free
        if missing > sum(taken for taken, _ in gathered):
            return None
        option: list[Allocation] = []
        for count, alloc in sorted(gathered, key=lambda one: -one[0]):
            if missing <= 0:
                break
            option.append(alloc)
            missing -= count
        return option

    def free_amounts(self) -> bool:
        """Displace allocations until CPU, memory, disk, cores and places are enough."""
        if self._covers():
            return True
        kept = list(self.chosen)
        needed = [float(amount) for amount in self._needed]
        for alloc in kept:
            _subtract(needed, alloc)
        for _, group in groupby(self._left(), key=lambda alloc: alloc.job.priority):
            left = list(group)
            while left and not self._covers():
                best = min(left, key=lambda alloc: distance(needed, alloc) + self._penalty(alloc))
                left.remove(best)
                self._choose((best,))
                _subtract(needed, best)
        if not self._covers():
            return False
        whole = [float(amount) for amount in self._needed]
        added = sorted(
            (alloc for alloc in self.chosen if alloc not in kept),
            key=lambda alloc: distance(whole, alloc),
            reverse=True,
        )
        self.chosen = kept
        for alloc in added:
            if self._covers():
                break
            self._choose((alloc,))
        return True

    def _left(self) -> Iterator[Allocation]:
        return (alloc for alloc in self._eligible if alloc not in self.chosen)

    def _choose(self, allocs: Iterable[Allocation]) -> None:
        self.chosen = [*self.chosen, *allocs]

    def _room(self, dimension: int) -> int:
        columns = self._view.columns
        free = int(columns.capacity[dimension, self._slot] - self._view.used[dimension, self._slot])
        return free + sum(use_of(alloc.resources).amounts[dimension] for alloc in self.chosen)

    def _covers(self) -> bool:
        return all(self._room(dimension) >= self._needed[dimension] for dimension in _COVERED)

    def _penalty(self, alloc: Allocation) -> float:
        group = alloc.job.group(alloc.task_group)
        at_most = group.migrate.max_parallel if group is not None and group.migrate is not None else 0
        already = self._view.preempted_of(alloc.job_key, alloc.task_group)
        return MAX_PARALLEL_PENALTY * (already + 1 - at_most) if 0 < at_most <= already else 0.0


def distance(needed: Sequence[float], alloc: Allocation) -> float:
    """How far what an allocation would free is from what is needed."""
    has = use_of(alloc.resources).amounts
    return sqrt(sum(((needed[d] - has[d]) / needed[d]) ** 2 for d in _DISTANCE if needed[d] > 0))


def _subtract(needed: list[float], alloc: Allocation) -> None:
    for dimension, amount in enumerate(use_of(alloc.resources).amounts):
        needed[dimension] -= amount
