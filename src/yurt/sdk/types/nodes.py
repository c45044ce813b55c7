"""Nodes and what runs on them."""

import msgspec

from yurt.sdk.wire import Record


class Driver(Record, frozen=True):
    """A driver of a node. `update_time` is an RFC 3339 text."""

    detected: bool = False
    healthy: bool = False
    health_description: str = ""
    update_time: str = ""


class HostVolume(Record, frozen=True):
    """A directory that the node offers to jobs."""

    name: str = ""
    path: str = ""
    read_only: bool = False
    id: str = ""


class HostNetwork(Record, frozen=True):
    """A named network of the node."""

    name: str = ""
    cidr: str = ""
    interface: str = ""
    reserved_ports: str = ""


class NodeEvent(Record, frozen=True):
    """Something that happened to a node. `timestamp` is an RFC 3339 text."""

    message: str = ""
    subsystem: str = ""
    details: dict[str, str] = {}
    timestamp: str = ""


class DrainStrategy(Record, frozen=True):
    """How a node is drained: `deadline` in nanoseconds, 0 for none, negative for at once."""

    deadline: int = 0
    ignore_system_jobs: bool = False
    force_deadline: str = ""
    started_at: str = ""


class NodeStub(Record, frozen=True):
    """A node in a list."""

    id: str = ""
    address: str = ""
    attributes: dict[str, str] = {}
    datacenter: str = ""
    name: str = ""
    node_pool: str = ""
    node_class: str = ""
    version: str = ""
    drain: bool = False
    scheduling_eligibility: str = ""
    status: str = ""


class Cpu(Record, frozen=True):
    """A node's CPU in MHz."""

    cpu_shares: int = msgspec.field(name="CpuShares", default=0)


class Memory(Record, frozen=True):
    """A node's memory."""

    memory_mb: int = 0


class Disk(Record, frozen=True):
    """A node's disk."""

    disk_mb: int = 0


class DeviceGroup(Record, frozen=True):
    """Devices of one model on a node."""

    vendor: str = ""
    type: str = ""
    name: str = ""
    attributes: dict[str, "DeviceAttribute"] = {}


class DeviceAttribute(Record, frozen=True):
    """A value of one kind, with its unit."""

    number: float | None = msgspec.field(name="Float", default=None)
    integer: int | None = msgspec.field(name="Int", default=None)
    text: str | None = msgspec.field(name="String", default=None)
    flag: bool | None = msgspec.field(name="Bool", default=None)
    unit: str = ""


class Resources(Record, frozen=True):
    """What a node has, or keeps for itself."""

    cpu: Cpu = msgspec.field(name="Cpu", default=Cpu())
    memory: Memory = Memory()
    disk: Disk = Disk()
    devices: tuple[DeviceGroup, ...] = ()


class CsiInfo(Record, frozen=True):
    """A storage plugin on a node."""

    plugin_id: str = ""


class Node(Record, frozen=True):
    """One node in full."""

    id: str = ""
    http_addr: str = ""
    attributes: dict[str, str] = {}
    meta: dict[str, str] = {}
    datacenter: str = ""
    name: str = ""
    node_pool: str = ""
    node_class: str = ""
    node_resources: Resources = Resources()
    reserved_resources: Resources = Resources()
    drain: bool = False
    drain_strategy: DrainStrategy | None = None
    scheduling_eligibility: str = ""
    status: str = ""
    events: tuple[NodeEvent, ...] = ()
    drivers: dict[str, Driver] = {}
    csi_controller_plugins: dict[str, CsiInfo] = {}
    csi_node_plugins: dict[str, CsiInfo] = {}
    host_volumes: dict[str, HostVolume] = {}
    host_networks: dict[str, HostNetwork] = {}
    # How many there are of each resource that is only counted, by name.
    countables: dict[str, int] = {}
    modify_index: int = 0


class HostMemory(Record, frozen=True):
    """The host's memory in bytes."""

    total: int = 0
    available: int = 0
    used: int = 0
    free: int = 0


class HostCpu(Record, frozen=True):
    """One CPU's use in percent."""

    cpu: str = ""
    user: float = 0.0
    system: float = 0.0
    idle: float = 0.0


class HostDisk(Record, frozen=True):
    """A disk's use in bytes and percent."""

    device: str = ""
    mountpoint: str = ""
    size: int = 0
    used: int = 0
    available: int = 0
    used_percent: float = 0.0
    inodes_used_percent: float = 0.0


class HostStats(Record, frozen=True):
    """What the host uses now; `uptime` in seconds, `cpu_ticks_consumed` in MHz."""

    memory: HostMemory = HostMemory()
    cpu: tuple[HostCpu, ...] = ()
    disk_stats: tuple[HostDisk, ...] = ()
    alloc_dir_stats: HostDisk = HostDisk()
    uptime: int = 0
    cpu_ticks_consumed: float = 0.0


class NodeChanged(Record, frozen=True):
    """The answer to a drain or eligibility change."""

    node_modify_index: int = 0
    eval_ids: tuple[str, ...] = ()


class NodeMeta(Record, frozen=True):
    """A node's metadata: what holds, what the API set, what its configuration set."""

    meta: dict[str, str] = {}
    dynamic: dict[str, str] = {}
    static: dict[str, str] = {}
