"""A node: a machine that runs allocations."""

from __future__ import annotations

from typing import Any

from yurt.model.resources import NetworkResource
from yurt.model.wire import DEFAULT_NODE_POOL, Nanoseconds, NodeID, Time, Wire, wire_names

NODE_INITIALIZING = "initializing"
NODE_READY = "ready"
NODE_DOWN = "down"
NODE_DISCONNECTED = "disconnected"

NODE_STATUSES = (NODE_INITIALIZING, NODE_READY, NODE_DOWN, NODE_DISCONNECTED)

NODE_ELIGIBLE = "eligible"
NODE_INELIGIBLE = "ineligible"

NODE_EVENTS_MAX = 10
SUBSYSTEM_CLUSTER = "Cluster"
SUBSYSTEM_DRAIN = "Drain"
SUBSYSTEM_SCHEDULER = "Scheduler"

MIN_DYNAMIC_PORT = 20000
MAX_DYNAMIC_PORT = 32000


# Node types write "Cpu" where job types write "CPU".
class NodeCpu(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(
        cpu_shares="CpuShares",
        total_cpu_cores="TotalCpuCores",
        reservable_cpu_cores="ReservableCpuCores",
    ),
):
    """Compute of a node, in MHz and cores."""

    cpu_shares: int = 0
    total_cpu_cores: int = 0
    reservable_cpu_cores: tuple[int, ...] | None = None


class NodeMemory(Wire, frozen=True, kw_only=True):
    """Memory of a node."""

    memory_mb: int = 0


class NodeDisk(Wire, frozen=True, kw_only=True):
    """Disk of a node."""

    disk_mb: int = 0


class Core(Wire, frozen=True, kw_only=True):
    """One CPU core."""

    socket_id: int = 0
    node_id: int = 0
    id: int = 0
    grade: bool = True
    disable: bool = False
    base_speed: int = 0
    max_speed: int = 0
    guess_speed: int = 0


class Topology(
    Wire,
    frozen=True,
    kw_only=True,
    # The wire name lacks the second h.
    rename=wire_names(override_withhold_compute="OverrideWitholdCompute"),
):
    """Cores and NUMA nodes."""

    nodes: tuple[int, ...] | None = None
    distances: tuple[tuple[int, ...], ...] | None = None
    cores: tuple[Core, ...] | None = None
    override_total_compute: int = 0
    override_withhold_compute: int = 0


class NodeProcessors(Wire, frozen=True, kw_only=True):
    """Processor layout of a node."""

    topology: Topology | None = None


class DeviceLocality(Wire, frozen=True, kw_only=True, rename=wire_names(pci_bus_id="PciBusID")):
    """Where a device sits."""

    pci_bus_id: str = ""


class NodeDevice(Wire, frozen=True, kw_only=True):
    """One device instance."""

    id: str = ""
    healthy: bool = False
    health_description: str = ""
    locality: DeviceLocality | None = None


class DeviceAttribute(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(float_value="Float", int_value="Int", bool_value="Bool"),
):
    """A typed attribute of a device; one member is set."""

    float_value: float | None = None
    int_value: int | None = None
    string: str | None = None
    bool_value: bool | None = None
    unit: str = ""


class NodeDeviceResource(Wire, frozen=True, kw_only=True):
    """A group of alike devices."""

    vendor: str = ""
    type: str = ""
    name: str = ""
    instances: tuple[NodeDevice, ...] | None = None
    attributes: dict[str, DeviceAttribute] | None = None


class NodeNetworkAddress(Wire, frozen=True, kw_only=True):
    """An address of a host network."""

    family: str = ""
    alias: str = ""
    address: str = ""
    reserved_ports: str = ""
    gateway: str = ""


class NodeNetworkResource(Wire, frozen=True, kw_only=True):
    """A network interface of a node."""

    mode: str = ""
    device: str = ""
    mac_address: str = ""
    speed: int = 0
    addresses: tuple[NodeNetworkAddress, ...] | None = None


class NodeResources(Wire, frozen=True, kw_only=True, rename=wire_names(cpu="Cpu")):
    """What a node has."""

    cpu: NodeCpu = NodeCpu()
    processors: NodeProcessors = NodeProcessors()
    memory: NodeMemory = NodeMemory()
    disk: NodeDisk = NodeDisk()
    devices: tuple[NodeDeviceResource, ...] | None = None
    node_networks: tuple[NodeNetworkResource, ...] | None = None
    networks: tuple[NetworkResource, ...] | None = None
    min_dynamic_port: int = MIN_DYNAMIC_PORT
    max_dynamic_port: int = MAX_DYNAMIC_PORT


class ReservedCpu(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(cpu_shares="CpuShares", reserved_cpu_cores="ReservedCpuCores"),
):
    """Compute kept back from tasks."""

    cpu_shares: int = 0
    reserved_cpu_cores: tuple[int, ...] | None = None


class ReservedNetworks(Wire, frozen=True, kw_only=True):
    """Ports kept back from tasks."""

    reserved_host_ports: str = ""


class NodeReservedResources(Wire, frozen=True, kw_only=True, rename=wire_names(cpu="Cpu")):
    """What a node keeps back from tasks."""

    cpu: ReservedCpu = ReservedCpu()
    memory: NodeMemory = NodeMemory()
    disk: NodeDisk = NodeDisk()
    networks: ReservedNetworks = ReservedNetworks()


class DrainStrategy(Wire, frozen=True, kw_only=True):
    """How a node is being emptied."""

    deadline: Nanoseconds = 0
    ignore_system_jobs: bool = False
    force_deadline: Time = None
    started_at: Time = None


class DrainMetadata(Wire, frozen=True, kw_only=True):
    """The last drain of a node."""

    started_at: Time = None
    updated_at: Time = None
    status: str = ""
    accessor_id: str = ""
    meta: dict[str, str] | None = None


class NodeEvent(Wire, frozen=True, kw_only=True):
    """Something that happened to a node."""

    message: str = ""
    subsystem: str = ""
    details: dict[str, str] | None = None
    timestamp: Time = None
    create_index: int = 0


class DriverInfo(Wire, frozen=True, kw_only=True):
    """A driver as the node found it."""

    attributes: dict[str, str] | None = None
    detected: bool = False
    healthy: bool = False
    health_description: str = ""
    update_time: Time = None


class HostVolume(Wire, frozen=True, kw_only=True):
    """A directory that a node offers as a volume."""

    name: str = ""
    path: str = ""
    read_only: bool = False
    id: str = ""


class HostNetwork(Wire, frozen=True, kw_only=True):
    """A named host network."""

    name: str = ""
    cidr: str = ""
    interface: str = ""
    reserved_ports: str = ""


class Node(
    Wire,
    frozen=True,
    kw_only=True,
    rename=wire_names(
        http_addr="HTTPAddr",
        csi_controller_plugins="CSIControllerPlugins",
        csi_node_plugins="CSINodePlugins",
        gc_volumes_on_node_gc="GCVolumesOnNodeGC",
    ),
):
    """A machine that runs allocations."""

    id: NodeID = NodeID("")
    secret_id: str = ""
    datacenter: str = "dc1"
    name: str = ""
    cgroup_parent: str = ""
    http_addr: str = ""
    tls_enabled: bool = False
    attributes: dict[str, str] = {}
    node_resources: NodeResources = NodeResources()
    reserved_resources: NodeReservedResources = NodeReservedResources()
    links: dict[str, str] | None = {}
    meta: dict[str, str] | None = None
    node_class: str = ""
    node_pool: str = DEFAULT_NODE_POOL
    computed_class: str = ""
    drain_strategy: DrainStrategy | None = None
    scheduling_eligibility: str = NODE_ELIGIBLE
    status: str = NODE_INITIALIZING
    status_description: str = ""
    identity_signing_key_id: str = ""
    status_updated_at: int = 0
    events: tuple[NodeEvent, ...] | None = None
    drivers: dict[str, DriverInfo] | None = None
    csi_controller_plugins: dict[str, Any] | None = None
    csi_node_plugins: dict[str, Any] | None = None
    host_volumes: dict[str, HostVolume] | None = None
    gc_volumes_on_node_gc: bool = False
    host_networks: dict[str, HostNetwork] | None = None
    last_drain: DrainMetadata | None = None
    node_max_allocs: int = 0
    countables: dict[str, int] | None = None
    last_missed_heartbeat_index: int = 0
    last_alloc_update_index: int = 0
    create_index: int = 0
    modify_index: int = 0

    @property
    def is_ready(self) -> bool:
        """Whether the node may get new allocations."""
        return (
            self.status == NODE_READY
            and self.scheduling_eligibility == NODE_ELIGIBLE
            and self.drain_strategy is None
        )
