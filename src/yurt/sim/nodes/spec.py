"""What simulated nodes are: read from a file, or made up alike."""

from __future__ import annotations

from random import Random

import msgspec

from yurt.errors import YurtError
from yurt.model.node import (
    NODE_READY,
    DeviceAttribute,
    DriverInfo,
    HostVolume,
    Node,
    NodeCpu,
    NodeDevice,
    NodeDeviceResource,
    NodeDisk,
    NodeMemory,
    NodeNetworkAddress,
    NodeNetworkResource,
    NodeProcessors,
    NodeReservedResources,
    NodeResources,
    ReservedCpu,
    ReservedNetworks,
    Topology,
)
from yurt.model.node import Core as NodeCore
from yurt.model.resources import NetworkResource
from yurt.model.wire import NodeID
from yurt.scheduler.ids import new_id
from yurt.sim.nodes.behaviour import Rule
from yurt.version import NOMAD_VERSION


class BadNodeFile(YurtError):
    """A file of simulated nodes cannot be used."""


class NetworkSpec(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """One address of a node."""

    mode: str = "host"
    device: str = "eth0"
    ip: str = msgspec.field(default="", name="IP")
    alias: str = "default"


class InstanceSpec(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """One device."""

    id: str = msgspec.field(default="", name="ID")
    healthy: bool = True


class DeviceSpec(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """Alike devices."""

    vendor: str = ""
    type: str = ""
    name: str = ""
    instances: tuple[InstanceSpec, ...] = ()
    attributes: dict[str, str | int | float | bool] = {}


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A node as files state it."""

    name: str
    id: str = msgspec.field(default="", name="ID")
    datacenter: str = "dc1"
    node_class: str = ""
    node_pool: str = "default"
    attributes: dict[str, str] = {}
    meta: dict[str, str] = {}
    cores: int = 4
    mhz_per_core: int = msgspec.field(default=1000, name="MHzPerCore")
    memory_mb: int = msgspec.field(default=8192, name="MemoryMB")
    disk_mb: int = msgspec.field(default=102_400, name="DiskMB")
    reserved_cpu: int = msgspec.field(default=0, name="ReservedCPU")
    reserved_memory_mb: int = msgspec.field(default=0, name="ReservedMemoryMB")
    reserved_disk_mb: int = msgspec.field(default=0, name="ReservedDiskMB")
    reserved_cores: tuple[int, ...] = ()
    reserved_ports: str = ""
    min_dynamic_port: int = 20_000
    max_dynamic_port: int = 32_000
    networks: tuple[NetworkSpec, ...] = ()
    drivers: dict[str, bool] = {}
    devices: tuple[DeviceSpec, ...] = ()
    host_volumes: tuple[str, ...] = ()


class NodeFile(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    """A file of nodes, with how their work behaves."""

    nodes: tuple[NodeSpec, ...] = ()
    client_behaviour: tuple[Rule, ...] = ()


def read_nodes(text: bytes) -> NodeFile:
    """Read a list of nodes, or an object with `Nodes` and `ClientBehaviour`. Raises BadNodeFile."""
    try:
        if text.lstrip()[:1] == b"[":
            return NodeFile(nodes=tuple(msgspec.json.decode(text, type=list[NodeSpec])))
        return msgspec.json.decode(text, type=NodeFile)
    except msgspec.MsgspecError as error:
        raise BadNodeFile(
            f"not a file of nodes: {error}; it is a list of nodes or an object with Nodes"
        ) from error


def alike(
    count: int, *, cores: int, mhz_per_core: int, memory_mb: int, datacenters: int, racks: int
) -> tuple[NodeSpec, ...]:
    """Make up `count` nodes that differ only in name, datacenter and rack."""
    return tuple(
        NodeSpec(
            name=f"sim-{number}",
            datacenter=f"dc{number % datacenters + 1}",
            meta={"rack": f"r{number % racks + 1}"} if racks else {},
            cores=cores,
            mhz_per_core=mhz_per_core,
            memory_mb=memory_mb,
            drivers={"mock_driver": True, "raw_exec": True, "exec": True, "docker": True},
            networks=(NetworkSpec(ip=f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"),),
        )
        for number in range(count)
    )


def node_of(spec: NodeSpec, rng: Random) -> Node:
    """The node that registers for `spec`."""
    attributes = {
        "kernel.name": "linux",
        "cpu.arch": "amd64",
        "cpu.numcores": str(spec.cores),
        "nomad.version": NOMAD_VERSION,
        "nomad.service_discovery": "true",
        "unique.hostname": spec.name,
        **{f"driver.{name}": "1" for name in spec.drivers},
    }
    return Node(
        id=NodeID(spec.id or new_id(rng)),
        # One with an id of its own is the same node again in another process, so it has the same secret.
        secret_id=new_id(Random(f"simulated node {spec.id}") if spec.id else rng),
        name=spec.name,
        datacenter=spec.datacenter,
        node_class=spec.node_class,
        node_pool=spec.node_pool,
        # A file that lists attributes lists all of them.
        attributes=dict(spec.attributes) or attributes,
        meta=dict(spec.meta) or None,
        status=NODE_READY,
        node_resources=_resources(spec),
        reserved_resources=NodeReservedResources(
            cpu=ReservedCpu(cpu_shares=spec.reserved_cpu, reserved_cpu_cores=spec.reserved_cores or None),
            memory=NodeMemory(memory_mb=spec.reserved_memory_mb),
            disk=NodeDisk(disk_mb=spec.reserved_disk_mb),
            networks=ReservedNetworks(reserved_host_ports=spec.reserved_ports),
        ),
        drivers={
            name: DriverInfo(
                detected=True, healthy=healthy, health_description="Healthy" if healthy else "Unhealthy"
            )
            for name, healthy in spec.drivers.items()
        },
        host_volumes={name: HostVolume(name=name, path=f"/volumes/{name}") for name in spec.host_volumes}
        or None,
    )


def _resources(spec: NodeSpec) -> NodeResources:
    usable = tuple(core for core in range(spec.cores) if core not in spec.reserved_cores)
    return NodeResources(
        cpu=NodeCpu(
            cpu_shares=spec.cores * spec.mhz_per_core,
            total_cpu_cores=spec.cores,
            reservable_cpu_cores=usable,
        ),
        processors=NodeProcessors(
            topology=Topology(
                nodes=(0,),
                distances=((10,),),
                cores=tuple(
                    NodeCore(id=core, base_speed=spec.mhz_per_core, disable=core in spec.reserved_cores)
                    for core in range(spec.cores)
                ),
            )
        ),
        memory=NodeMemory(memory_mb=spec.memory_mb),
        disk=NodeDisk(disk_mb=spec.disk_mb),
        devices=tuple(_device(device) for device in spec.devices) or None,
        node_networks=tuple(
            NodeNetworkResource(
                mode=network.mode,
                device=network.device,
                addresses=(NodeNetworkAddress(family="ipv4", alias=network.alias, address=network.ip),),
            )
            for network in spec.networks
        )
        or None,
        networks=tuple(
            NetworkResource(mode=network.mode, device=network.device, ip=network.ip, cidr=f"{network.ip}/32")
            for network in spec.networks[:1]
        )
        or None,
        min_dynamic_port=spec.min_dynamic_port,
        max_dynamic_port=spec.max_dynamic_port,
    )


def _device(spec: DeviceSpec) -> NodeDeviceResource:
    return NodeDeviceResource(
        vendor=spec.vendor,
        type=spec.type,
        name=spec.name,
        instances=tuple(NodeDevice(id=instance.id, healthy=instance.healthy) for instance in spec.instances),
        attributes={name: _attribute(value) for name, value in spec.attributes.items()},
    )


def _attribute(value: str | float | bool) -> DeviceAttribute:
    """A typed attribute; a text such as "11264 MiB" is a number with its unit."""
    if isinstance(value, bool):
        return DeviceAttribute(bool_value=value)
    if isinstance(value, int):
        return DeviceAttribute(int_value=value)
    if isinstance(value, float):
        return DeviceAttribute(float_value=value)
    number, _, unit = value.partition(" ")
    if number.lstrip("-").isdigit():
        return DeviceAttribute(int_value=int(number), unit=unit)
    return DeviceAttribute(string=value)
