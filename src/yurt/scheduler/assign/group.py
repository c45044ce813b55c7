"""Everything that has to be chosen on a node for one instance of a group."""

from __future__ import annotations

from random import Random

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from yurt.model.allocated import AllocatedCpu, AllocatedResources, AllocatedShared
from yurt.model.node import Node
from yurt.model.resources import NetworkResource, Port
from yurt.scheduler.ask import Ask
from yurt.scheduler.assign import cores as core_choice
from yurt.scheduler.assign import devices as device_choice
from yurt.scheduler.assign.ports import PortMap
from yurt.scheduler.view import View
from yurt.state.use import MBITS, PORTS

NO_BANDWIDTH = "network: bandwidth exceeded"


class Given(msgspec.Struct, frozen=True):
    """What one instance would get on a node, and how well its devices suit it."""

    resources: AllocatedResources
    device_score: float | None = None


class Assigner:
    """Chooses ports, cores and devices for the instances of one group."""

    def __init__(self, view: View, ask: Ask, rng: Random) -> None:
        self._view = view
        self._ask = ask
        self._rng = rng

    def give(self, slot: int) -> Given | str:
        """What one more instance gets on a node, or the dimension that is exhausted there."""
        ask = self._ask
        if ask.is_plain:
            return Given(ask.resources)
        node = self._node(slot)
        held = self._view.claims(slot)
        tasks = dict(ask.resources.tasks)
        shared: AllocatedShared = ask.resources.shared
        ports = PortMap(node, held)
        if ask.network is not None:
            offer = ports.assign(ask.network, self._rng)
            if isinstance(offer, str):
                return offer
            shared = replace(shared, networks=(offer.network,), ports=offer.ports or None)
        for task, network in ask.task_networks:
            one = self._task_network(slot, node, ports, network)
            if isinstance(one, str):
                return one
            tasks[task] = replace(tasks[task], networks=(one,))
        device_score = None
        if ask.devices:
            devices = device_choice.assign_devices(node, held, ask.devices)
            if devices is None:
                return device_choice.EXHAUSTED
            device_score = devices.score
            for task, given in devices.by_task.items():
                tasks[task] = replace(tasks[task], devices=given)
        if ask.cores:
            cores = core_choice.assign_cores(node, held, ask.cores)
            if cores is None:
                return core_choice.EXHAUSTED
            for task, (ids, mhz) in cores.items():
                tasks[task] = replace(tasks[task], cpu=AllocatedCpu(cpu_shares=mhz, reserved_cores=ids))
        return Given(replace(ask.resources, tasks=tasks, shared=shared), device_score)

    @property
    def is_once_per_node(self) -> bool:
        """Whether a static port keeps a second instance off any node."""
        return bool(self._exclusive_ports())

    @property
    def refusal_after_once(self) -> str:
        """What a second instance runs into, where there is room for one only."""
        port = self._exclusive_ports()[0]
        return f"network: reserved port collision {port.label}={port.value}"

    def suits_bulk(self, slots: NDArray[np.intp], instances: int) -> bool:
        """Whether it is known without looking how many instances a node can be given what they ask for.

        So it is if there is nothing to choose, if a static port allows one, and if dynamic ports are
        ample on all nodes. Ports in use are counted over all addresses, so there are never fewer free
        than it seems here; nodes may still refuse for other reasons.
        """
        ask = self._ask
        if ask.task_networks or ask.cores or ask.devices:
            return False
        if ask.network is None:
            return True
        per_node = 1 if self.is_once_per_node else instances
        wanted = len(ask.network.dynamic_ports or ()) * per_node
        free = self._view.columns.capacity[PORTS][slots] - self._view.used[PORTS][slots]
        return bool((free >= wanted + len(ask.network.reserved_ports or ())).all())

    def may_refuse(self, slots: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Mask of the slots that must be asked whether one instance gets what it asks for.

        The others give it for sure: there is nothing to choose, or just dynamic ports, which are ample.
        """
        ask = self._ask
        if ask.is_plain:
            return np.zeros(len(slots), dtype=np.bool_)
        if ask.network is None or ask.network.reserved_ports or ask.task_networks or ask.devices or ask.cores:
            return np.ones(len(slots), dtype=np.bool_)
        free = self._view.columns.capacity[PORTS][slots] - self._view.used[PORTS][slots]
        return np.asarray(free < len(ask.network.dynamic_ports or ()))

    def _exclusive_ports(self) -> list[Port]:
        network = self._ask.network
        ports = network.reserved_ports or () if network is not None else ()
        return [port for port in ports if not port.ignore_collision]

    def _task_network(
        self, slot: int, node: Node, ports: PortMap, ask: NetworkResource
    ) -> NetworkResource | str:
        reason = NO_BANDWIDTH
        free = int(self._view.columns.capacity[MBITS, slot] - self._view.used[MBITS, slot])
        for network in node.node_resources.networks or ():
            if not network.device or ask.mbits > network.mbits or ask.mbits > free:
                continue
            offer = ports.assign_on(ask, network.ip, self._rng)
            if not isinstance(offer, str):
                return replace(offer, device=network.device)
            reason = offer
        return reason

    def _node(self, slot: int) -> Node:
        node = self._view.columns.nodes[slot]
        assert node is not None, f"slot {slot} has no node"
        return node
