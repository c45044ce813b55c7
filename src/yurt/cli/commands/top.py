"""`yurt top`: a live view of nodes, jobs and allocations."""

import re
from collections.abc import Sequence
from typing import Annotated

import msgspec

from yurt.cli.cluster_picture import ListedAlloc, ListedJob, ListedNode, Picture, picture
from yurt.cli.command import Command, Session
from yurt.cli.console import terminal_has_size
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.sizes import MIB
from yurt.cli.terminal_screen import TerminalScreen, full_screen
from yurt.cli.times import absolute
from yurt.cli.top_view import FOOT_LINES, HEAD_LINES, TABS, TITLES, View, cells, press, render, shown_rows
from yurt.model.times import SECOND_NS
from yurt.sdk import Client, SdkError, allocs

DEFAULT_INTERVAL_NS = 2 * SECOND_NS
INTERVAL_NS_MIN = SECOND_NS // 5
# More would take longer to fetch than to look at.
ALLOCS_MAX = 5_000
EVENTS_SHOWN_MAX = 50
_COLOUR = re.compile(r"\033\[[39]\dm")


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `top`."""

    once: Annotated[bool, Flag("once", "Print everything once, as a pipe gets it, and end.")] = False
    interval: Annotated[
        int,
        Flag("interval", "How often to look. Default = 2s", "<duration>", form="duration"),
    ] = DEFAULT_INTERVAL_NS


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show the cluster."""
    if arguments:
        raise UsageError("This command takes no arguments")
    if options.interval < INTERVAL_NS_MIN:
        raise CommandError("-interval must be at least 200ms")
    client = session.client
    if not client.namespace:
        client = client.within(namespace="*")
    with failing_as("Error querying the cluster"):
        first = _look(session, client)
    if wants_machine_output(options):
        with failing_as("Error querying the cluster"):
            show_value(session.console, options, msgspec.to_builtins(_measured(client, first)))
        return 0
    console = session.console
    if options.once or not (console.is_terminal and terminal_has_size(console.stdout)):
        _print_once(session, _measured(client, first))
        return 0
    try:
        with full_screen(console.stdout) as screen:
            _Top(session, client, screen, options.interval / SECOND_NS).run(first)
    except KeyboardInterrupt:
        pass
    return 0


class _Top:
    """The loop: look, draw, wait for keys."""

    def __init__(self, session: Session, client: Client, screen: TerminalScreen, interval_s: float) -> None:
        self._session = session
        self._client = client
        self._screen = screen
        self._interval_ns = int(interval_s * SECOND_NS)
        self._problem = ""

    def run(self, picture: Picture) -> None:
        view = View()
        story: list[str] = []
        picture = self._measured_page(picture, view)
        due = self._session.now() + self._interval_ns
        while not view.is_over:
            size = self._screen.size
            lines = render(picture, view, size, story=story, problem=self._problem)
            self._screen.draw(
                lines if self._session.console.colours else [_uncoloured(line) for line in lines]
            )
            keys = self._screen.wait(max(0.0, (due - self._session.now()) / SECOND_NS))
            before = view
            for key in keys:
                page = size.lines - HEAD_LINES - FOOT_LINES
                view = press(view, key, shown_rows(picture, view), page)
            if view.opened != before.opened:
                story = self._story(view.opened)
            if view.tab != before.tab:
                picture = self._measured_page(picture, view)
            if self._session.now() >= due:
                if not view.is_paused:
                    picture = self._renewed(picture, view)
                    story = self._story(view.opened)
                due = self._session.now() + self._interval_ns

    def _renewed(self, before: Picture, view: View) -> Picture:
        try:
            found = _look(self._session, self._client)
        except SdkError as error:
            self._problem = f"No news since {absolute(before.time)}: {error}"
            return before
        self._problem = ""
        return self._measured_page(found, view)

    def _measured_page(self, found: Picture, view: View) -> Picture:
        """Measure the allocations in sight only: each is a call to its node."""
        if view.tab != "allocations":
            return found
        rows = shown_rows(found, view)
        room = self._screen.size.lines
        start = max(0, min(view.chosen - room // 2, len(rows) - room))
        return _measured(self._client, found, {row.id for row in rows[start : start + room]})

    def _story(self, alloc_id: str) -> list[str]:
        if not alloc_id:
            return []
        try:
            alloc = allocs.read(self._client, alloc_id).value
        except SdkError as error:
            return [str(error)]
        lines = [
            f"Allocation {alloc.id}",
            f"{alloc.name} of job {alloc.job_id}, version {alloc.job_version}, on node {alloc.node_name}",
            f"{alloc.client_status}: {alloc.client_description or alloc.desired_description}",
        ]
        for task, state in sorted(alloc.task_states.items()):
            lines += ["", f'Task "{task}" is {state.state}, {state.restarts} restarts']
            newest = sorted(state.events, key=lambda event: event.time, reverse=True)[:EVENTS_SHOWN_MAX]
            lines += [f"  {absolute(event.time)}  {event.display_message or event.type}" for event in newest]
        return lines


def _uncoloured(line: str) -> str:
    """A line without its colours; what is chosen stays reversed."""
    return _COLOUR.sub("", line)


def _look(session: Session, client: Client) -> Picture:
    nodes = client.get("/v1/nodes", tuple[ListedNode, ...], resources=True).value
    jobs = client.get("/v1/jobs", tuple[ListedJob, ...]).value
    found = client.get(
        "/v1/allocations",
        tuple[ListedAlloc, ...],
        resources=True,
        per_page=ALLOCS_MAX,
        filter='ClientStatus == "running" or ClientStatus == "pending" or ClientStatus == "unknown"',
    )
    return picture(nodes, jobs, found.value, now=session.now(), is_truncated=bool(found.next_token))


def _measured(client: Client, found: Picture, wanted: set[str] | None = None) -> Picture:
    """Add what allocations use, where their nodes tell; all of them, or those that are wanted."""
    rows = []
    for row in found.allocations:
        if row.status != "running" or (wanted is not None and row.id not in wanted):
            rows.append(row)
            continue
        try:
            usage = allocs.usage(client, row.id).value.resource_usage
        except SdkError:
            rows.append(row)
            continue
        memory = usage.memory_stats.rss or usage.memory_stats.usage
        rows.append(
            msgspec.structs.replace(
                row, cpu_used_mhz=usage.cpu_stats.total_ticks, memory_used_mb=memory / MIB
            )
        )
    return msgspec.structs.replace(found, allocations=tuple(rows))


def _print_once(session: Session, found: Picture) -> None:
    console = session.console
    for number, tab in enumerate(TABS):
        rows = shown_rows(found, View(tab=tab))
        heading = console.bold(tab.capitalize())
        console.output(("\n" if number else "") + heading)
        if not rows:
            console.output("None")
            continue
        texts: list[list[object]] = [list(TITLES[tab])]
        texts.extend([cell.text for cell in cells(row, now=found.time)] for row in rows)
        console.output(table(texts))
    if found.is_truncated:
        console.output(f"\nOnly the first {ALLOCS_MAX} allocations were looked at.")


COMMAND = Command(
    path="top",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Shows nodes with what is reserved on them, jobs with their allocations by state, and allocations with
        what they reserve and use, renewed every two seconds. Without -namespace it shows all namespaces.

        Keys: 1, 2, 3 and tab change the table; up and down choose a line; enter opens it; escape goes back;
        s sorts by the next column, r reverses; / shows only lines with a text; p pauses; ? helps; q ends.

        When its output is no terminal, or with -once, -json or -t, it prints everything once.
    """,
)
