"""Placing, written plainly: one node after the other, nothing kept, nothing vectorised.

The twin of `yurt.scheduler.place`, slow and obvious. It does not choose: it says what every node
scores, so that a choice can be judged whichever way ties were broken.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import msgspec

from yurt.model.allocated import AllocatedResources
from yurt.model.group import TaskGroup
from yurt.model.job import Job, JobKey
from yurt.model.node import Node
from yurt.model.placement_rules import Constraint, Spread
from yurt.model.task_parts import TaskLifecycle
from yurt.model.wire import NodeID
from yurt.scheduler.ask import ask_of
from yurt.scheduler.assign.cores import assign_cores
from yurt.scheduler.assign.devices import assign_devices
from yurt.scheduler.assign.ports import GivenNetwork, PortMap
from yurt.scheduler.feasible.base import in_datacenters
from yurt.scheduler.feasible.devices import has_devices, requested_devices
from yurt.scheduler.feasible.drivers import has_driver
from yurt.scheduler.feasible.networks import has_host_network, has_mode, named_host_networks
from yurt.scheduler.feasible.targets import resolve
from yurt.scheduler.operands import holds, parse_bool
from yurt.state.state import State
from yurt.state.use import use_of


class Held(msgspec.Struct, kw_only=True):
    """An allocation as the plain twin sees it."""

    node_id: NodeID
    job: JobKey
    group: str
    resources: AllocatedResources
    is_live: bool


class PlainCluster:
    """Nodes and what is on them."""

    def __init__(self, state: State, job: Job, group: TaskGroup, *, algorithm: str = "binpack") -> None:
        self.nodes: dict[NodeID, Node] = {node.id: node for node in state.nodes}
        self.job = job
        self.group = group
        self.algorithm = algorithm
        self.held = [
            Held(
                node_id=alloc.node_id,
                job=alloc.job_key,
                group=alloc.task_group,
                resources=alloc.resources,
                is_live=not alloc.is_server_terminal and alloc.job.create_index == job.create_index,
            )
            for alloc in state.allocs
            if not alloc.is_client_terminal
        ]
        self.lowest_boosts: dict[str, float] = {}
        # Distinct hosts take nodes out of the race before spreads look at the rest.
        self.in_race = [node.id for node in self.nodes.values() if not self.filter_reason(node)]

    def place(self, node_id: NodeID, resources: AllocatedResources) -> None:
        self.held.append(
            Held(
                node_id=node_id,
                job=self.job.key,
                group=self.group.name,
                resources=resources,
                is_live=True,
            )
        )

    def filter_reason(self, node: Node) -> str:
        """Why rules about nodes turn a node away; empty if they do not."""
        job, group = self.job, self.group
        if not node.is_ready or not in_datacenters(node.datacenter, job.datacenters):
            return "not in the base set"
        if job.node_pool not in ("all", node.node_pool):
            return "not in the base set"
        rules: list[Constraint] = [*(job.constraints or ()), *(group.constraints or ())]
        rules += [rule for task in group.tasks for rule in task.constraints or ()]
        for rule in rules:
            left, right = resolve(node, rule.ltarget), resolve(node, rule.rtarget)
            if not holds(left, rule.operand, right):
                return f"{rule.ltarget} {rule.operand} {rule.rtarget}"
        if not all(has_driver(node, task.driver) for task in group.tasks):
            return "missing drivers"
        if not has_devices(node, requested_devices(group)):
            return "missing devices"
        if group.networks:
            network = group.networks[0]
            if not has_mode(node, network.mode):
                return "missing network"
            if not all(has_host_network(node, name) for _, name in named_host_networks(network)):
                return "missing host network"
        return self._distinct_hosts(node)

    def _distinct_hosts(self, node: Node) -> str:
        def asked(rules: tuple[Constraint, ...] | None) -> bool:
            return any(
                rule.operand == "distinct_hosts" and parse_bool(rule.rtarget) is not False
                for rule in rules or ()
            )

        here = [one for one in self.held if one.node_id == node.id and one.job == self.job.key]
        if asked(self.job.constraints) and here:
            return "distinct_hosts"
        if asked(self.group.constraints) and any(one.group == self.group.name for one in here):
            return "distinct_hosts"
        return ""

    def distinct_property_reason(self, node: Node) -> str:
        """Why distinct properties turn a node away; empty if they do not."""
        of_job = [rule for rule in self.job.constraints or () if rule.operand == "distinct_property"]
        of_group = [rule for rule in self.group.constraints or () if rule.operand == "distinct_property"]
        for rule, any_group in [*((r, True) for r in of_job), *((r, False) for r in of_group)]:
            value = resolve(node, rule.ltarget)
            if value is None:
                return "missing property"
            used = sum(
                one.is_live
                and one.job == self.job.key
                and (any_group or one.group == self.group.name)
                and one.node_id in self.nodes
                and resolve(self.nodes[one.node_id], rule.ltarget) == value
                for one in self.held
            )
            if used >= int(rule.rtarget or 1):
                return "distinct_property"
        return ""

    def used(self, node_id: NodeID) -> tuple[int, int, int, int]:
        """CPU, memory, disk and allocations in use on a node."""
        here = [one.resources for one in self.held if one.node_id == node_id]
        amounts = [plain_use(resources) for resources in here]
        return (
            sum(cpu for cpu, _, _ in amounts),
            sum(memory for _, memory, _ in amounts),
            sum(disk for _, _, disk in amounts),
            len(here),
        )

    def give(self, node: Node) -> AllocatedResources | None:
        """What one more instance would use on a node; None if it does not fit there."""
        ask = ask_of(self.group, oversubscribe=False)
        claims = {
            claim: 1 for one in self.held if one.node_id == node.id for claim in use_of(one.resources).claims
        }
        cpu, memory, disk = plain_use(ask.resources)
        if ask.network is not None:
            offer = PortMap(node, claims).assign(ask.network, Random(0))
            if not isinstance(offer, GivenNetwork):
                return None
        if ask.devices and assign_devices(node, claims, ask.devices) is None:
            return None
        if ask.cores:
            cores = assign_cores(node, claims, ask.cores)
            if cores is None:
                return None
            cpu += sum(mhz for _, mhz in cores.values())
        has, kept = node.node_resources, node.reserved_resources
        cpu_used, memory_used, disk_used, allocs = self.used(node.id)
        if (
            cpu_used + cpu > has.cpu.cpu_shares - kept.cpu.cpu_shares
            or memory_used + memory > has.memory.memory_mb - kept.memory.memory_mb
            or disk_used + disk > has.disk.disk_mb - kept.disk.disk_mb
            or (node.node_max_allocs and allocs + 1 > node.node_max_allocs)
        ):
            return None
        return ask.resources

    def scores(self, penalty: frozenset[NodeID] = frozenset()) -> dict[NodeID, float]:
        """The final score of every node that can take the next instance."""
        boosts = self._spread_boosts()
        finals = {}
        for node in self.nodes.values():
            if self.filter_reason(node) or self.distinct_property_reason(node) or self.give(node) is None:
                continue
            parts = [self._fit(node)]
            collisions = sum(
                one.node_id == node.id and one.job == self.job.key and one.group == self.group.name
                for one in self.held
            )
            if collisions:
                parts.append(-(collisions + 1) / self.group.count)
            if node.id in penalty:
                parts.append(-1.0)
            affinity = self._affinity(node)
            if affinity is not None:
                parts.append(affinity)
            device = self._devices(node)
            if device is not None:
                parts.append(device)
            if boosts.get(node.id):
                parts.append(boosts[node.id])
            finals[node.id] = sum(parts) / len(parts)
        return finals

    def _fit(self, node: Node) -> float:
        cpu, memory, _ = plain_use(ask_of(self.group, oversubscribe=False).resources)
        cpu_used, memory_used, _, _ = self.used(node.id)
        ask = ask_of(self.group, oversubscribe=False)
        if ask.cores:
            claims = {
                claim: 1
                for one in self.held
                if one.node_id == node.id
                for claim in use_of(one.resources).claims
            }
            cores = assign_cores(node, claims, ask.cores)
            assert cores is not None
            cpu += sum(mhz for _, mhz in cores.values())
        free_cpu = 1 - (cpu_used + cpu) / max(1, node.node_resources.cpu.cpu_shares)
        free_memory = 1 - (memory_used + memory) / max(1, node.node_resources.memory.memory_mb)
        total = 10**free_cpu + 10**free_memory
        score = 20 - total if self.algorithm == "binpack" else total - 2
        return min(max(score, 0.0), 18.0) / 18

    def _affinity(self, node: Node) -> float | None:
        affinities = [*(self.job.affinities or ()), *(self.group.affinities or ())]
        affinities += [affinity for task in self.group.tasks for affinity in task.affinities or ()]
        if not affinities:
            return None
        met = sum(
            affinity.weight
            for affinity in affinities
            if holds(resolve(node, affinity.ltarget), affinity.operand, resolve(node, affinity.rtarget))
        )
        return met / sum(abs(affinity.weight) for affinity in affinities)

    def _devices(self, node: Node) -> float | None:
        ask = ask_of(self.group, oversubscribe=False)
        if not any(request.affinities for _, request in ask.devices):
            return None
        claims = {
            claim: 1 for one in self.held if one.node_id == node.id for claim in use_of(one.resources).claims
        }
        given = assign_devices(node, claims, ask.devices)
        return given.score if given is not None else None

    def _spread_boosts(self) -> Mapping[NodeID, float]:
        """The sum of the spread scores of every node."""
        spreads = [*(self.job.spreads or ()), *(self.group.spreads or ())]
        weights = sum(spread.weight for spread in spreads)
        totals = dict.fromkeys(self.nodes, 0.0)
        # Of two spreads over one attribute, the job's counts, in the place of both.
        in_force = {
            spread.attribute: spread for spread in (*(self.group.spreads or ()), *(self.job.spreads or ()))
        }
        for spread in (in_force[one.attribute] for one in spreads):
            one = (
                self._target_boosts(spread, spread.weight / weights)
                if spread.spread_target
                else self._even_boosts(spread)
            )
            for node_id, boost in one.items():
                totals[node_id] += boost
        return totals

    def _counts(self, attribute: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for one in self.held:
            if not one.is_live or one.job != self.job.key or one.group != self.group.name:
                continue
            value = resolve(self.nodes[one.node_id], attribute)
            if value is not None:
                counts[value] = counts.get(value, 0) + 1
        return counts

    def _even_boosts(self, spread: Spread) -> dict[NodeID, float]:
        counts = self._counts(spread.attribute)
        boosts = {}
        for node in self.nodes.values():
            value = resolve(node, spread.attribute)
            if value is None:
                boosts[node.id] = -1.0
            elif not counts:
                boosts[node.id] = 0.0
            else:
                least, most, current = min(counts.values()), max(counts.values()), counts.get(value, 0)
                if current != least:
                    boosts[node.id] = (least - current) / least
                elif least == most:
                    boosts[node.id] = -1.0
                else:
                    boosts[node.id] = (most - least) / least
        return boosts

    def _target_boosts(self, spread: Spread, share: float) -> dict[NodeID, float]:
        targets = spread.spread_target or ()
        desired = {target.value: target.percent / 100 * self.group.count for target in targets}
        if 0 < sum(desired.values()) < self.group.count:
            desired["*"] = self.group.count - sum(desired.values())
        listed = {target.value for target in targets} - {"*"}
        counts = self._counts(spread.attribute)
        rest = sum(count for value, count in counts.items() if value not in listed)
        boosts: dict[NodeID, float] = {}
        unwanted = []
        lowest = self.lowest_boosts.get(spread.attribute, -1.0)
        for node in self.nodes.values():
            value = resolve(node, spread.attribute)
            if value is None:
                boosts[node.id] = -1.0
                continue
            wanted = desired.get(value) if value in listed else desired.get("*")
            used = (counts.get(value, 0) if value in listed else rest) + 1
            if wanted is None:
                boosts[node.id] = -1.0
            elif wanted == 0:
                unwanted.append(node.id)
            else:
                boosts[node.id] = (wanted - used) / wanted * share
                if node.id in self.in_race:
                    lowest = min(lowest, boosts[node.id])
        for node_id in unwanted:
            boosts[node_id] = lowest
        self.lowest_boosts[spread.attribute] = lowest
        return boosts


def plain_use(resources: AllocatedResources) -> tuple[int, int, int]:
    """CPU, memory and disk that an allocation uses, with its tasks' lifecycles taken into account."""

    def during(phase: str, lifecycle: TaskLifecycle | None) -> bool:
        hook = lifecycle.hook if lifecycle is not None else ""
        if phase == "before":
            return hook == "prestart"
        if phase == "after":
            return hook == "poststop"
        is_sidecar = lifecycle is not None and lifecycle.sidecar
        return hook in ("", "poststart") or (hook == "prestart" and is_sidecar)

    phases = []
    for phase in ("before", "main", "after"):
        tasks = [
            task
            for name, task in resources.tasks.items()
            if during(phase, resources.task_lifecycles.get(name))
        ]
        phases.append(
            (
                sum(task.cpu.cpu_shares for task in tasks if not task.cpu.reserved_cores),
                sum(task.memory.memory_mb for task in tasks),
            )
        )
    cores = sum(task.cpu.cpu_shares for task in resources.tasks.values() if task.cpu.reserved_cores)
    return (
        max(cpu for cpu, _ in phases) + cores,
        max(memory for _, memory in phases),
        resources.shared.disk_mb,
    )
