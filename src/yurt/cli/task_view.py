"""The tasks of an allocation: their order, their lifecycle, their resources."""

from yurt.cli.layout import table
from yurt.cli.sizes import MIB, format_size
from yurt.sdk.types.allocs import Alloc, Network, ResourceUsage, TaskResources

# Tasks are shown in the order in which they run.
_LIFECYCLE_ORDER = (
    "prestart",
    "prestart sidecar",
    "",
    "poststart",
    "poststart sidecar",
    "poststop",
)


def lifecycle_name(alloc: Alloc, task: str) -> str:
    """When a task runs: `prestart`, `poststart sidecar`, ...; empty for a main task."""
    lifecycle = alloc.allocated_resources.task_lifecycles.get(task)
    if lifecycle is None or not lifecycle.hook:
        return ""
    return f"{lifecycle.hook} sidecar" if lifecycle.sidecar else lifecycle.hook


def sorted_tasks(alloc: Alloc) -> list[str]:
    """The names of an allocation's tasks, in the order in which they run, then by name."""
    names = {*alloc.task_states, *alloc.allocated_resources.tasks}

    def position(name: str) -> tuple[int, str]:
        kind = lifecycle_name(alloc, name)
        return (_LIFECYCLE_ORDER.index(kind) if kind in _LIFECYCLE_ORDER else len(_LIFECYCLE_ORDER), name)

    return sorted(names, key=position)


def task_resources(alloc: Alloc, task: str, used: ResourceUsage | None) -> str:
    """Show what a task was given and, where it is known, what it uses."""
    given = alloc.allocated_resources.tasks.get(task, TaskResources())
    cpu = f"{given.cpu.cpu_shares} MHz"
    memory = format_size(given.memory.memory_mb * MIB)
    if used is not None:
        cpu = f"{int(used.cpu_stats.total_ticks)}/{cpu}"
        stats = used.memory_stats
        in_use = stats.rss if "RSS" in stats.measured else stats.usage
        memory = f"{format_size(in_use)}/{memory}"
    cores = len(given.cpu.reserved_cores)
    addresses = [line for network in given.networks for line in _addresses(network)]
    disk = format_size(alloc.allocated_resources.shared.disk_mb * MIB)
    rows: list[list[object]] = [
        [f"CPU ({cores} cores)" if cores else "CPU", "Memory", "Disk", "Addresses"],
        [cpu, memory, disk, addresses[0] if addresses else ""],
    ]
    more = addresses[1:]
    if given.memory.memory_max_mb > 0:
        maximum = f"Max: {format_size(given.memory.memory_max_mb * MIB)}"
        rows.append(["", maximum, "", more[0] if more else ""])
        more = more[1:]
    rows.extend(["", "", "", line] for line in more)
    return table(rows, empty="")


def _addresses(network: Network) -> list[str]:
    ports = (*network.dynamic_ports, *network.reserved_ports)
    return [f"{port.label}: {network.ip}:{port.value}" for port in ports]
