"""What an allocation was given: shares, cores, ports, devices."""

from __future__ import annotations

from yurt.model.resources import NetworkResource
from yurt.model.task_parts import TaskLifecycle
from yurt.model.wire import SparseWire, Wire, wire_names


class AllocatedCpu(Wire, frozen=True, kw_only=True, rename=wire_names(cpu_shares="CpuShares")):
    """CPU of one task."""

    cpu_shares: int = 0
    reserved_cores: tuple[int, ...] | None = None


class AllocatedMemory(Wire, frozen=True, kw_only=True):
    """Memory of one task."""

    memory_mb: int = 0
    memory_max_mb: int = 0


class AllocatedDevice(Wire, frozen=True, kw_only=True):
    """Devices of one task."""

    vendor: str = ""
    type: str = ""
    name: str = ""
    device_ids: tuple[str, ...] = ()


class AllocatedTaskResources(Wire, frozen=True, kw_only=True, rename=wire_names(cpu="Cpu")):
    """What one task was given."""

    cpu: AllocatedCpu = AllocatedCpu()
    memory: AllocatedMemory = AllocatedMemory()
    networks: tuple[NetworkResource, ...] | None = None
    devices: tuple[AllocatedDevice, ...] | None = None


class AllocatedPort(SparseWire, frozen=True, kw_only=True, rename=wire_names(host_ip="HostIP")):
    """A port on the host."""

    label: str = ""
    value: int = 0
    to: int = 0
    host_ip: str = ""
    ignore_collision: bool = False


class AllocatedShared(Wire, frozen=True, kw_only=True):
    """What the tasks of an allocation share."""

    networks: tuple[NetworkResource, ...] | None = None
    disk_mb: int = 0
    ports: tuple[AllocatedPort, ...] | None = None


class AllocatedResources(Wire, frozen=True, kw_only=True):
    """What an allocation was given."""

    tasks: dict[str, AllocatedTaskResources] = {}
    task_lifecycles: dict[str, TaskLifecycle | None] = {}
    shared: AllocatedShared = AllocatedShared()

    @property
    def cpu_mhz(self) -> int:
        """CPU of all tasks."""
        return sum(task.cpu.cpu_shares for task in self.tasks.values())

    @property
    def memory_mb(self) -> int:
        """Memory of all tasks."""
        return sum(task.memory.memory_mb for task in self.tasks.values())
