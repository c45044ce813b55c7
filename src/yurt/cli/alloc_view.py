"""What `alloc status` shows of one allocation."""

from collections.abc import Mapping

from yurt.cli.command import Session
from yurt.cli.errors import failing_as
from yurt.cli.job_view import started_at
from yurt.cli.layout import key_list, short_id, table
from yurt.cli.placement import reasons, score_table
from yurt.cli.sizes import format_size
from yurt.cli.task_view import lifecycle_name, sorted_tasks, task_resources
from yurt.cli.times import absolute, absolute_text, relative, time_of
from yurt.model.durations import duration_text
from yurt.sdk import Client, SdkError, allocs, evals, nodes
from yurt.sdk.types.allocs import Alloc, AllocUsage, ResourceUsage, TaskState

HEALTH = {True: "healthy", False: "unhealthy", None: "unset"}
NOT_YET = "N/A"


class AllocView:
    """Shows one allocation, section by section."""

    def __init__(self, session: Session, client: Client, alloc: Alloc, *, verbose: bool) -> None:
        self._console = session.console
        self._client = client
        self._alloc = alloc
        self._verbose = verbose
        self._now = session.now()

    def show_short(self) -> None:
        """Show the allocation and its tasks in a few lines."""
        alloc = self._alloc
        pairs: list[tuple[str, object]] = [
            ("ID", alloc.id),
            ("Name", alloc.name),
            ("Created", self._moment(alloc.create_time)),
            ("Modified", self._moment(alloc.modify_time)),
            *self._deadline(),
        ]
        self._console.output(key_list(pairs))
        self._console.heading("Tasks")
        rows: list[list[object]] = [["Name", "State", "Last Event", "Time", "Lifecycle"]]
        for name in sorted_tasks(alloc):
            state = alloc.task_states.get(name, TaskState())
            last = state.events[-1] if state.events else None
            rows.append(
                [
                    name,
                    state.state,
                    last.type if last else "",
                    absolute(last.time) if last else "",
                    lifecycle_name(alloc, name) or "main",
                ]
            )
        self._console.output(table(rows))

    def show(self, *, with_stats: bool) -> None:
        """Show everything."""
        self._console.output(key_list(self._keys()))
        self._show_addresses()
        self._show_checks()
        usage = self._usage()
        for name in sorted_tasks(self._alloc):
            self._show_task(name, usage, with_stats=with_stats)
        if self._verbose:
            self._console.heading("Placement Metrics")
            for line in reasons(self._console, self._alloc.metrics, indent="  "):
                self._console.output(line)
            scores = score_table(self._alloc.metrics)
            if scores:
                self._console.output(scores)

    def _moment(self, at: int) -> str:
        return absolute(at) if self._verbose else relative(at, self._now)

    def _short(self, full_id: str) -> str:
        return short_id(full_id, verbose=self._verbose)

    def _keys(self) -> list[tuple[str, object]]:
        alloc = self._alloc
        pairs: list[tuple[str, object]] = [
            ("ID", alloc.id),
            ("Eval ID", self._short(alloc.eval_id)),
            ("Name", alloc.name),
            ("Node ID", self._short(alloc.node_id)),
            ("Node Name", alloc.node_name),
            ("Job ID", alloc.job_id),
            ("Job Version", alloc.job.version),
            ("Client Status", alloc.client_status),
            ("Client Description", alloc.client_description),
            ("Desired Status", alloc.desired_status),
            ("Desired Description", alloc.desired_description),
            ("Created", self._moment(alloc.create_time)),
            ("Modified", self._moment(alloc.modify_time)),
            *self._deadline(),
        ]
        if alloc.deployment_id:
            health = alloc.deployment_status
            pairs.append(("Deployment ID", self._short(alloc.deployment_id)))
            pairs.append(("Deployment Health", HEALTH[health.healthy if health else None]))
            if health is not None and health.canary:
                pairs.append(("Canary", True))
        pairs += self._rescheduling()
        if self._verbose:
            metric = alloc.metrics
            pairs += [
                ("Evaluated Nodes", metric.nodes_evaluated),
                ("Filtered Nodes", metric.nodes_filtered),
                ("Exhausted Nodes", metric.nodes_exhausted),
                ("Allocation Time", duration_text(metric.allocation_time)),
                ("Failures", metric.coalesced_failures),
            ]
        return pairs

    def _deadline(self) -> list[tuple[str, object]]:
        limit = self._alloc.group().max_run_duration
        if not limit or self._alloc.job.type not in {"batch", "sysbatch"}:
            return []
        return [("Max Run Deadline", self._moment(started_at(self._alloc) + limit))]

    def _rescheduling(self) -> list[tuple[str, object]]:
        alloc = self._alloc
        pairs: list[tuple[str, object]] = []
        policy = alloc.group().reschedule_policy
        events = alloc.reschedule_tracker.events if alloc.reschedule_tracker else ()
        if policy is not None and events and policy.attempts > 0:
            since = self._now - policy.interval
            recent = [event for event in events if event.reschedule_time >= since]
            pairs.append(("Reschedule Attempts", f"{len(recent)}/{policy.attempts}"))
        if alloc.next_allocation:
            pairs.append(("Replacement Alloc ID", self._short(alloc.next_allocation)))
        elif alloc.followup_eval_id:
            try:
                wait_until = time_of(evals.read(self._client, alloc.followup_eval_id).value.wait_until)
            except SdkError:
                return pairs  # the evaluation has been collected: nothing is planned any more
            if wait_until > self._now:
                pairs.append(("Reschedule Eligibility", relative(wait_until, self._now)))
        return pairs

    def _show_addresses(self) -> None:
        shared = self._alloc.allocated_resources.shared
        if not shared.ports:
            return
        mode = shared.networks[0].mode if shared.networks else ""
        self._console.heading(f'Allocation Addresses (mode = "{mode}"):' if mode else "Allocation Addresses:")
        rows: list[list[object]] = [["Label", "Dynamic", "Address"]]
        for port in shared.ports:
            mapped = f" -> {port.to}" if port.to > 0 else ""
            rows.append([f"*{port.label}", "yes", f"{port.host_ip}:{port.value}{mapped}"])
        self._console.output(table(rows))

    def _show_checks(self) -> None:
        try:
            found = allocs.checks(self._client, self._alloc.id).value or {}
        except SdkError:
            return  # its node is away; the rest can still be shown
        if not found:
            return
        self._console.heading("Nomad Service Checks:")
        rows = sorted(
            [check.service, check.task or "(group)", check.check, check.mode, check.status]
            for check in found.values()
        )
        self._console.output(table([["Service", "Task", "Name", "Mode", "Status"], *rows]))

    def _usage(self) -> AllocUsage | None:
        """What the tasks use; None when that cannot be known, as was then said."""
        try:
            return allocs.usage(self._client, self._alloc.id).value
        except SdkError as error:
            self._console.output("")
            if self._is_node_down():
                self._console.output("Omitting resource statistics since the node is down.")
            else:
                self._console.error(f"Couldn't retrieve stats: {error}")
            return None

    def _is_node_down(self) -> bool:
        try:
            return nodes.read(self._client, self._alloc.node_id).value.status == "down"
        except SdkError:
            return False

    def _show_task(self, name: str, usage: AllocUsage | None, *, with_stats: bool) -> None:
        state = self._alloc.task_states.get(name, TaskState())
        lifecycle = lifecycle_name(self._alloc, name)
        kind = f" ({lifecycle})" if lifecycle else ""
        self._console.heading(f'Task "{name}"{kind} is "{state.state or "pending"}"')
        used = None
        if usage is not None and state.started_at:
            # A task that has ended is not measured any more, and uses nothing.
            used = usage.tasks[name].resource_usage if name in usage.tasks else ResourceUsage()
        self._console.output("Task Resources:")
        self._console.output(task_resources(self._alloc, name, used))
        if with_stats and used is not None:
            self._show_stats(used)
        self._show_volumes(name)
        self._console.output("\nTask Events:")
        self._console.output(
            key_list(
                [
                    ("Started At", absolute_text(state.started_at) or NOT_YET),
                    ("Finished At", absolute_text(state.finished_at) or NOT_YET),
                    ("Total Restarts", state.restarts),
                    ("Last Restart", absolute_text(state.last_restart) or NOT_YET),
                ]
            )
        )
        self._console.output("\nRecent Events:")
        rows: list[list[object]] = [["Time", "Type", "Description"]]
        for event in reversed(state.events):
            rows.append([absolute(event.time), event.type, event.display_message or event.message])
        self._console.output(table(rows))

    def _show_stats(self, used: ResourceUsage) -> None:
        memory, cpu = used.memory_stats, used.cpu_stats
        sizes: Mapping[str, int] = {
            "RSS": memory.rss,
            "Cache": memory.cache,
            "Swap": memory.swap,
            "Usage": memory.usage,
            "Max Usage": memory.max_usage,
            "Kernel Usage": memory.kernel_usage,
            "Kernel Max Usage": memory.kernel_max_usage,
        }
        shares: Mapping[str, str] = {
            "Percent": f"{cpu.percent:.2f}%",
            "Throttled Periods": str(cpu.throttled_periods),
            "Throttled Time": str(cpu.throttled_time),
            "User Mode": f"{cpu.user_mode:.2f}%",
            "System Mode": f"{cpu.system_mode:.2f}%",
        }
        self._show_measured(
            "Memory Stats", memory.measured, {key: format_size(size) for key, size in sizes.items()}
        )
        self._show_measured("CPU Stats", cpu.measured, shares)

    def _show_measured(self, title: str, measured: tuple[str, ...], values: Mapping[str, str]) -> None:
        names = [name for name in measured if name in values]
        if names:
            self._console.output(f"\n{title}")
            self._console.output(table([names, [values[name] for name in names]]))

    def _show_volumes(self, task: str) -> None:
        group = self._alloc.group()
        mounts = next((entry.volume_mounts for entry in group.tasks if entry.name == task), ())
        for kind, title in (("host", "Host Volumes:"), ("csi", "CSI Volumes:")):
            rows: list[list[object]] = [["ID", "Read Only"]]
            for mount in mounts:
                request = group.volumes.get(mount.volume)
                if request is not None and request.type == kind:
                    rows.append([request.source, request.read_only or mount.read_only])
            if len(rows) > 1:
                self._console.output(f"\n{title}")
                self._console.output(table(rows))


def read_alloc(client: Client, alloc_id: str) -> Alloc:
    """Read an allocation by its full id."""
    with failing_as("Error querying allocation"):
        return allocs.read(client, alloc_id).value
