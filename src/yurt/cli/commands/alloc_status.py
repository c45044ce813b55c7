"""`yurt alloc status`: one allocation."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.alloc_view import AllocView, read_alloc
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.lookup import uuid_prefix
from yurt.cli.machine_output import show_record, show_value, wants_machine_output, with_members
from yurt.cli.options import Flag, FormatOptions, WatchFlag
from yurt.cli.records import ALLOC_MEMBERS
from yurt.cli.tables import alloc_table
from yurt.sdk import allocs


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `alloc status`."""

    watch: WatchFlag = False
    short: Annotated[bool, Flag("short", "Display short output. Shows only the most recent task event.")] = (
        False
    )
    stats: Annotated[bool, Flag("stats", "Display detailed resource usage statistics.")] = False
    verbose: Annotated[bool, Flag("verbose", "Show full information.")] = False
    ui: Annotated[bool, Flag("ui", "Open the allocation's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show an allocation."""
    is_machine_output = wants_machine_output(options)
    if len(arguments) != 1 and not (is_machine_output and not arguments):
        raise UsageError(
            "This command takes one of the following argument conditions:\n"
            " * A single <allocation>\n"
            " * No arguments, with output format specified"
        )
    if not arguments:
        with failing_as("Error querying allocations"):
            show_record(session.console, options, allocs.listing(session.client).body)
        return 0
    prefix = uuid_prefix(arguments[0])
    with failing_as("Error querying allocation"):
        found = allocs.listing(session.client, prefix=prefix).value
    if not found:
        raise CommandError(f'No allocation(s) with prefix or id "{arguments[0]}" found')
    if len(found) > 1:
        listing = alloc_table(found, now=session.now(), verbose=options.verbose)
        session.console.output(f"Prefix matched multiple allocations\n\n{listing}")
        return 0
    alloc_id = found[0].id
    if is_machine_output:
        with failing_as("Error querying allocation"):
            body = allocs.read(session.client, alloc_id).body
        show_value(session.console, options, with_members(json.loads(body), ALLOC_MEMBERS))
        return 0
    view = AllocView(session, session.client, read_alloc(session.client, alloc_id), verbose=options.verbose)
    if options.short:
        view.show_short()
    else:
        view.show(with_stats=options.stats)
    show_hint(session, "View allocation details in the Web UI", f"allocations/{alloc_id}", opens=options.ui)
    return 0


COMMAND = Command(
    path="alloc status",
    options=Options,
    run=run,
    usage="[options] <allocation>",
    description="""
        Display information about existing allocations and their tasks. This command can be used to
        inspect the current status of an allocation, including its running status, metadata, and verbose
        failure messages reported by internal subsystems.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the
        allocation's namespace.
    """,
)
