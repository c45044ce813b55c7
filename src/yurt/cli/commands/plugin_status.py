"""`yurt plugin status`: the storage plugins, or one of them."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.layout import key_list, table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.cli.tables import alloc_table, newest_first
from yurt.sdk import volumes
from yurt.sdk.volumes import CsiPlugin


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `plugin status`."""

    type: Annotated[str, Flag("type", "Only show plugins of this type: csi.", "<type>")] = ""
    short: Annotated[bool, Flag("short", "Display short output.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show plugins."""
    if len(arguments) > 1:
        raise UsageError("This command takes either no arguments or one: <plugin>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying CSI plugins"):
        answer = volumes.list_plugins(session.client, prefix=arguments[0] if arguments else "")
    console = session.console
    if not arguments:
        if is_machine_output:
            show_record(console, options, answer.body)
            return 0
        console.output(console.bold("Container Storage Interface"))
        if answer.value:
            console.output(_table(answer.value))
        else:
            console.error("No CSI plugins")
        return 0
    exact = [plugin for plugin in answer.value if plugin.id == arguments[0]] or list(answer.value)
    if not exact:
        raise CommandError(f'No plugin(s) with prefix or ID "{arguments[0]}" found')
    if len(exact) > 1:
        raise CommandError(f'Prefix "{arguments[0]}" matched multiple plugins\n\n{_table(exact)}')
    with failing_as("Error querying plugin"):
        one = volumes.read_plugin(session.client, exact[0].id)
    if is_machine_output:
        show_record(console, options, one.body)
        return 0
    plugin = one.value
    console.output(
        key_list(
            [
                ("ID", plugin.id),
                ("Provider", plugin.provider),
                ("Version", plugin.version),
                ("Controllers Healthy", plugin.controllers_healthy),
                ("Controllers Expected", plugin.controllers_expected),
                ("Nodes Healthy", plugin.nodes_healthy),
                ("Nodes Expected", plugin.nodes_expected),
            ]
        )
    )
    if not options.short:
        console.heading("Allocations")
        listing = alloc_table(newest_first(plugin.allocations), now=session.now(), verbose=options.verbose)
        console.output(listing)
    return 0


def _table(plugins: Sequence[CsiPlugin]) -> str:
    rows: list[list[object]] = [["ID", "Provider", "Controllers Healthy/Expected", "Nodes Healthy/Expected"]]
    rows.extend(
        [
            plugin.id,
            plugin.provider,
            f"{plugin.controllers_healthy}/{plugin.controllers_expected}",
            f"{plugin.nodes_healthy}/{plugin.nodes_expected}",
        ]
        for plugin in plugins
    )
    return table(rows)


COMMAND = Command(
    path="plugin status",
    options=Options,
    run=run,
    usage="[options] <plugin>",
    description="""
        Display status information about a plugin. If no plugin ID is given, a list of all plugins will be
        displayed.

        If ACLs are enabled, this command requires a token with the 'plugin:read' capability.
    """,
)
