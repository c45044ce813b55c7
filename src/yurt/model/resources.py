"""What tasks ask for: CPU, memory, disk, networks, devices."""

from __future__ import annotations

from yurt.model.placement_rules import Affinity, Constraint
from yurt.model.wire import SparseWire, Wire

# In place of a host network: the main address of a node, whatever its networks are called. A static port
# there is taken once a node, where one of a network with several addresses may be taken on each.
MAIN_ADDRESS = "*"


class DNSConfig(Wire, frozen=True, kw_only=True):
    """Resolver settings inside a network namespace."""

    servers: tuple[str, ...] | None = None
    searches: tuple[str, ...] | None = None
    options: tuple[str, ...] | None = None


class CNIConfig(Wire, frozen=True, kw_only=True):
    """Arguments handed to CNI plugins."""

    args: dict[str, str] | None = None


class Port(SparseWire, frozen=True, kw_only=True):
    """A named port: static when it stands in `reserved_ports`, else chosen by the scheduler."""

    label: str = ""
    value: int = 0
    to: int = 0
    host_network: str = ""
    ignore_collision: bool = False


class NetworkResource(SparseWire, frozen=True, kw_only=True):
    """A network a group asks for, or one it got."""

    mode: str = ""
    device: str = ""
    cidr: str = ""
    ip: str = ""
    hostname: str = ""
    mbits: int = 0
    dns: DNSConfig | None = None
    reserved_ports: tuple[Port, ...] | None = None
    dynamic_ports: tuple[Port, ...] | None = None
    cni: CNIConfig | None = None


class RequestedDevice(Wire, frozen=True, kw_only=True):
    """Devices a task asks for, by type, vendor/type or vendor/type/model."""

    name: str = ""
    count: int = 1
    constraints: tuple[Constraint, ...] | None = None
    affinities: tuple[Affinity, ...] | None = None


class NUMA(Wire, frozen=True, kw_only=True):
    """Whether cores and devices must share a NUMA node."""

    affinity: str = "none"
    devices: tuple[str, ...] | None = None


class Resources(Wire, frozen=True, kw_only=True):
    """What one task asks for."""

    cpu: int = 100
    cores: int = 0
    memory_mb: int = 300
    memory_max_mb: int = 0
    disk_mb: int = 0
    iops: int = 0
    networks: tuple[NetworkResource, ...] | None = None
    devices: tuple[RequestedDevice, ...] | None = None
    numa: NUMA | None = None
    secrets_mb: int = 0
