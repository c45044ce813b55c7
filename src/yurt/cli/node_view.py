"""What `node status` shows of one node."""

from collections import Counter

from yurt.cli.command import Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import key_list, table
from yurt.cli.sizes import MIB, format_size
from yurt.cli.tables import alloc_table, newest_first
from yurt.cli.times import absolute_text
from yurt.model.durations import duration_text
from yurt.model.times import SECOND_NS
from yurt.sdk import Client, SdkError, allocs, nodes
from yurt.sdk.types.allocs import Alloc
from yurt.sdk.types.nodes import DeviceAttribute, HostStats, Node

# The vendor under which units of countable resources are given to tasks.
COUNTABLE_VENDOR = "countable"


class NodeView:
    """Shows one node, section by section."""

    def __init__(self, session: Session, client: Client, node: Node, *, verbose: bool) -> None:
        self._console = session.console
        self._client = client
        self._node = node
        self._verbose = verbose
        self._now = session.now()
        with failing_as("Error querying node allocations"):
            self._allocs = nodes.allocations(client, node.id).value

    def show_short(self) -> None:
        """Show the node and its allocations."""
        drivers = [name for name, driver in sorted(self._node.drivers.items()) if driver.detected]
        pairs = [*self._keys(), *self._summaries(), ("Drivers", ",".join(drivers))]
        self._console.output(key_list(pairs))
        self._show_allocs()

    def show(self, *, with_stats: bool) -> None:
        """Show everything."""
        stats = self._host_stats()
        pairs = self._keys()
        if stats is not None:
            pairs.append(("Uptime", duration_text(stats.uptime * SECOND_NS)))
        if not self._verbose:
            pairs += [*self._summaries(), ("Driver Status", _driver_status(self._node))]
        self._console.output(key_list(pairs))
        if self._verbose:
            self._show_volumes_and_networks()
            self._show_drivers()
        self._show_events()
        self._show_resources()
        self._show_countables()
        if stats is not None:
            self._show_utilization(stats)
            if with_stats:
                self._show_stats(stats)
        self._show_allocs()
        if self._verbose:
            self._show_maps()

    def _keys(self) -> list[tuple[str, object]]:
        node = self._node
        return [
            ("ID", node.id),
            ("Name", node.name),
            ("Node Pool", node.node_pool),
            ("Class", node.node_class),
            ("DC", node.datacenter),
            ("Drain", drain_text(node)),
            ("Eligibility", node.scheduling_eligibility),
            ("Status", node.status),
            ("CSI Controllers", ",".join(sorted(node.csi_controller_plugins))),
            ("CSI Drivers", ",".join(sorted(node.csi_node_plugins))),
        ]

    def _summaries(self) -> list[tuple[str, object]]:
        node = self._node
        csi = {
            request.source
            for alloc in self._live()
            for request in alloc.group().volumes.values()
            if request.type == "csi"
        }
        return [
            ("Host Volumes", ",".join(sorted(node.host_volumes))),
            ("Host Networks", ",".join(sorted(node.host_networks))),
            ("CSI Volumes", ",".join(sorted(csi))),
        ]

    def _host_stats(self) -> HostStats | None:
        try:
            return nodes.host_stats(self._client, self._node.id).value
        except SdkError as error:
            # A node that is down cannot be asked; all that the servers know can still be shown.
            self._console.error(f"Error fetching node stats: {error}\n")
            return None

    def _live(self) -> list[Alloc]:
        return [alloc for alloc in self._allocs if alloc.client_status in {"pending", "running", "unknown"}]

    def _show_events(self) -> None:
        self._console.heading("Node Events")
        details_title = ["Details"] if self._verbose else []
        rows: list[list[object]] = [["Time", "Subsystem", "Message", *details_title]]
        for event in reversed(self._node.events):
            details = ", ".join(f"{key}: {value}" for key, value in sorted(event.details.items()))
            rows.append(
                [
                    absolute_text(event.timestamp),
                    event.subsystem,
                    event.message,
                    *([details] if self._verbose else []),
                ]
            )
        self._console.output(table(rows))

    def _totals(self) -> tuple[int, int, int]:
        has, reserved = self._node.node_resources, self._node.reserved_resources
        return (
            has.cpu.cpu_shares - reserved.cpu.cpu_shares,
            (has.memory.memory_mb - reserved.memory.memory_mb) * MIB,
            (has.disk.disk_mb - reserved.disk.disk_mb) * MIB,
        )

    def _show_resources(self) -> None:
        live = self._live()
        cpu = memory = disk = 0
        for alloc in live:
            for task in alloc.allocated_resources.tasks.values():
                cpu += task.cpu.cpu_shares
                memory += task.memory.memory_mb * MIB
            disk += alloc.allocated_resources.shared.disk_mb * MIB
        total_cpu, total_memory, total_disk = self._totals()
        self._console.heading("Allocated Resources")
        self._console.output(
            table(
                [
                    ["CPU", "Memory", "Disk", "Alloc Count"],
                    [
                        f"{cpu}/{total_cpu} MHz",
                        _pair(memory, total_memory),
                        _pair(disk, total_disk),
                        len(live),
                    ],
                ]
            )
        )

    def _show_countables(self) -> None:
        """What the node has that is only counted, such as licences, and how much of it is given out."""
        if not self._node.countables:
            return
        given = Counter(
            device.type
            for alloc in self._live()
            for task in alloc.allocated_resources.tasks.values()
            for device in task.devices
            if device.vendor == COUNTABLE_VENDOR
            for _ in device.device_ids
        )
        self._console.heading("Countable Resources")
        rows: list[list[object]] = [["Name", "Allocated"]]
        rows.extend([name, f"{given[name]}/{count}"] for name, count in sorted(self._node.countables.items()))
        self._console.output(table(rows))

    def _show_utilization(self, stats: HostStats) -> None:
        cpu, memory = self._used_by_allocs()
        total_cpu, total_memory, _ = self._totals()
        self._console.heading("Allocation Resource Utilization")
        self._console.output(
            table([["CPU", "Memory"], [f"{cpu}/{total_cpu} MHz", _pair(memory, total_memory)]])
        )
        self._console.heading("Host Resource Utilization")
        disk = stats.alloc_dir_stats
        self._console.output(
            table(
                [
                    ["CPU", "Memory", "Disk"],
                    [
                        f"{int(stats.cpu_ticks_consumed)}/{self._node.node_resources.cpu.cpu_shares} MHz",
                        _pair(stats.memory.used, stats.memory.total),
                        _pair(disk.used, disk.size),
                    ],
                ]
            )
        )

    def _used_by_allocs(self) -> tuple[int, int]:
        cpu = memory = 0
        for alloc in self._allocs:
            if alloc.client_status != "running":
                continue
            try:
                usage = allocs.usage(self._client, alloc.id).value.resource_usage
            except SdkError:
                continue  # it ended while we were asking
            stats = usage.memory_stats
            cpu += int(usage.cpu_stats.total_ticks)
            memory += stats.rss if "RSS" in stats.measured else stats.usage
        return cpu, memory

    def _show_stats(self, stats: HostStats) -> None:
        self._console.heading("CPU Stats")
        for cpu in stats.cpu:
            self._console.output(
                key_list(
                    [
                        ("CPU", cpu.cpu),
                        ("User", f"{cpu.user:.2f}%"),
                        ("System", f"{cpu.system:.2f}%"),
                        ("Idle", f"{cpu.idle:.2f}%"),
                    ]
                )
                + ("\n" if cpu is not stats.cpu[-1] else "")
            )
        self._console.heading("Memory Stats")
        memory = stats.memory
        self._console.output(
            key_list(
                [
                    ("Total", format_size(memory.total)),
                    ("Available", format_size(memory.available)),
                    ("Used", format_size(memory.used)),
                    ("Free", format_size(memory.free)),
                ]
            )
        )
        self._console.heading("Disk Stats")
        for disk in stats.disk_stats:
            self._console.output(
                key_list(
                    [
                        ("Device", disk.device),
                        ("MountPoint", disk.mountpoint),
                        ("Size", format_size(disk.size)),
                        ("Used", format_size(disk.used)),
                        ("Available", format_size(disk.available)),
                        ("Used Percent", f"{disk.used_percent:.2f}%"),
                        ("Inodes Percent", f"{disk.inodes_used_percent:.2f}%"),
                    ]
                )
                + ("\n" if disk is not stats.disk_stats[-1] else "")
            )

    def _show_volumes_and_networks(self) -> None:
        node = self._node
        if node.host_volumes:
            self._console.heading("Host Volumes")
            rows: list[list[object]] = [["Name", "ReadOnly", "Source"]]
            rows.extend(
                [name, volume.read_only, volume.path] for name, volume in sorted(node.host_volumes.items())
            )
            self._console.output(table(rows))
        if node.host_networks:
            self._console.heading("Host Networks")
            rows = [["Name", "CIDR", "Interface", "ReservedPorts"]]
            rows.extend(
                [name, network.cidr, network.interface, network.reserved_ports]
                for name, network in sorted(node.host_networks.items())
            )
            self._console.output(table(rows))

    def _show_drivers(self) -> None:
        self._console.heading("Drivers")
        rows: list[list[object]] = [["Driver", "Detected", "Healthy", "Message", "Time"]]
        rows.extend(
            [
                name,
                driver.detected,
                driver.healthy,
                driver.health_description,
                absolute_text(driver.update_time),
            ]
            for name, driver in sorted(self._node.drivers.items())
        )
        self._console.output(table(rows))

    def _show_allocs(self) -> None:
        self._console.heading("Allocations")
        listing = alloc_table(
            newest_first(self._allocs), now=self._now, verbose=self._verbose, with_node_name=False
        )
        self._console.output(listing)

    def _show_maps(self) -> None:
        self._console.heading("Attributes")
        self._console.output(key_list(sorted(self._node.attributes.items())))
        devices = self._node.node_resources.devices
        if devices:
            self._console.heading("Device Group Attributes")
            for device in devices:
                pairs: list[tuple[str, object]] = [
                    (
                        "Device Group",
                        "/".join(part for part in (device.vendor, device.type, device.name) if part),
                    )
                ]
                pairs += [(name, _attribute(value)) for name, value in sorted(device.attributes.items())]
                self._console.output(key_list(pairs) + ("\n" if device is not devices[-1] else ""))
        self._console.heading("Meta")
        self._console.output(key_list(sorted(self._node.meta.items())))


def drain_text(node: Node) -> str:
    """Whether and how a node is drained."""
    strategy = node.drain_strategy
    if strategy is None:
        return "false"
    if strategy.deadline < 0:
        text = "true; force drain"
    elif strategy.force_deadline and absolute_text(strategy.force_deadline):
        text = f"true; {absolute_text(strategy.force_deadline)} deadline"
    else:
        text = "true; no deadline"
    return f"{text}; ignoring system jobs" if strategy.ignore_system_jobs else text


def _driver_status(node: Node) -> str:
    return ",".join(
        name if driver.healthy else f"{name} (unhealthy)"
        for name, driver in sorted(node.drivers.items())
        if driver.detected
    )


def _attribute(value: DeviceAttribute) -> str:
    plain = next(
        (part for part in (value.text, value.integer, value.number, value.flag) if part is not None), ""
    )
    text = str(plain).lower() if isinstance(plain, bool) else str(plain)
    return f"{text} {value.unit}".strip()


def _pair(used: int, total: int) -> str:
    return f"{format_size(used)}/{format_size(total)}"
