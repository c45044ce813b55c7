"""Notice how the node changes while its agent runs: drivers, devices, Consul, metadata, ways to others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from yurt.agent.consul.client import ConsulClient, ConsulFailed
from yurt.agent.consul.fingerprint import consul_attributes, consul_link
from yurt.agent.driver_watch import fingerprint_drivers, has_changed
from yurt.agent.fingerprint.registry import driver_attributes
from yurt.agent.node_context import NodeContext
from yurt.agent.node_meta import NodeMeta, load_meta, store_meta
from yurt.agent.round_trips import RoundTrips
from yurt.model.client_protocol import Peer
from yurt.model.node import DriverInfo, Node, NodeDeviceResource
from yurt.observe.logger import get_logger

DRIVER_FINGERPRINT_INTERVAL_S = 30.0
CONSUL_INTERVAL_S = 15.0

logger = get_logger("agent")


class NodeChanges:
    """Keeps `node.node` as the machine is; `renew` is called whenever the servers should hear of it."""

    def __init__(self, node: NodeContext, *, renew: Callable[[], None]) -> None:
        """Take over what was stored of the node's metadata."""
        self._node = node
        self._renew = renew
        self._round_trips = RoundTrips(node)
        self._measuring: asyncio.Task[None] | None = None
        self.meta = load_meta(node.db, node.node.meta or {})
        node.node = msgspec.structs.replace(node.node, meta=self.meta.merged)

    def change_meta(self, changes: Mapping[str, str | None]) -> NodeMeta:
        """Change the node's metadata for good; None hides a key. Raises BadMetaKey."""
        self.meta = self.meta.changed(changes)
        store_meta(self._node.db, self.meta)
        self._change(msgspec.structs.replace(self._node.node, meta=self.meta.merged))
        return self.meta

    async def watch_drivers(self) -> None:
        """Ask the drivers now and again how they are, until cancelled."""
        while True:
            await self._node.clock.sleep(DRIVER_FINGERPRINT_INTERVAL_S)
            infos = await fingerprint_drivers(self._node.drivers, self._node.clock)
            if has_changed(self._node.node.drivers or {}, infos):
                self._change(_with_drivers(self._node.node, infos))

    async def watch_devices(self) -> None:
        """Look now and again which devices there are, until cancelled."""
        devices = self._node.devices
        while True:
            await self._node.clock.sleep(devices.options.fingerprint_period)
            groups = await asyncio.to_thread(devices.find)
            if groups != (self._node.node.node_resources.devices or ()):
                logger.info("devices.changed", groups=[group.name for group in groups])
                self._change(with_devices(self._node.node, groups))

    async def find_consul(self, client: ConsulClient) -> None:
        """Ask Consul who it is, until it has answered once."""
        while True:
            try:
                found = await client.agent()
            except ConsulFailed as error:
                logger.info("consul.not_found", error=str(error))
                await self._node.clock.sleep(CONSUL_INTERVAL_S)
                continue
            node = self._node.node
            attributes = node.attributes | consul_attributes(found)
            links = (node.links or {}) | {"consul": consul_link(found)}
            self._change(msgspec.structs.replace(node, attributes=attributes, links=links))
            return

    def measure_ways(self, peers: tuple[Peer, ...], tasks: asyncio.TaskGroup) -> None:
        """Measure the ways to other nodes in `tasks`, one round at a time."""
        if self._measuring is None or self._measuring.done():
            self._measuring = tasks.create_task(self._measure(peers), name="round-trips")

    async def _measure(self, peers: tuple[Peer, ...]) -> None:
        if await self._round_trips.measure(peers):
            self._renew()

    def _change(self, node: Node) -> None:
        self._node.node = node
        self._renew()


def with_devices(node: Node, groups: tuple[NodeDeviceResource, ...]) -> Node:
    """The node with these devices, and no others."""
    resources = msgspec.structs.replace(node.node_resources, devices=groups or None)
    return msgspec.structs.replace(node, node_resources=resources)


def _with_drivers(node: Node, infos: dict[str, DriverInfo]) -> Node:
    """The node with its drivers as they are now, attributes included."""
    stale = driver_attributes(node.drivers or {}).keys()
    attributes = {name: value for name, value in node.attributes.items() if name not in stale}
    return msgspec.structs.replace(node, drivers=infos, attributes=attributes | driver_attributes(infos))
