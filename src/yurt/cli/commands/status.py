"""`yurt status`: the status of whatever an id names."""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.machine_output import wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import search

# What the search knows, the command that shows it, and how a list of candidates is headed.
KINDS = {
    "jobs": ("job_status", "Jobs"),
    "allocs": ("alloc_status", "Allocations"),
    "nodes": ("node_status", "Nodes"),
    "evals": ("eval_status", "Evaluations"),
    "deployment": ("deployment_status", "Deployments"),
    "namespaces": ("namespace_status", "Namespaces"),
    "node_pools": ("node_pool_info", "Node Pools"),
    "plugins": ("plugin_status", "Plugins"),
    "volumes": ("volume_status", "Volumes"),
    "host_volumes": ("volume_status", "Dynamic Host Volumes"),
}


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `status`."""

    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False
    ui: Annotated[bool, Flag("ui", "Open the page of the resource in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Find out what an id is of, and show that."""
    if len(arguments) > 1:
        raise UsageError("This command takes either no arguments or one: <identifier>")
    wants_machine_output(options)
    if not arguments:
        return _show(session, options, "job_status", ())
    name = arguments[0]
    with failing_as(f'Error querying search with id: "{name}"'):
        found = search.by_prefix(session.client, name).value.matches
    matches = {kind: names for kind, names in found.items() if names and kind in KINDS}
    # An exact name wins over the prefixes of its own kind.
    matches = {kind: (name,) if name in names else names for kind, names in matches.items()}
    if not matches:
        raise CommandError(f'Unable to resolve ID: "{name}"')
    if len(matches) > 1 or any(len(names) > 1 for names in matches.values()):
        listing = "\n\n".join(f"{KINDS[kind][1]}:\n{', '.join(names)}" for kind, names in matches.items())
        raise CommandError(f'Multiple matches found for id "{name}"\n\n{listing}')
    kind, names = next(iter(matches.items()))
    return _show(session, options, KINDS[kind][0], names)


def _show(session: Session, options: Options, module: str, arguments: Sequence[str]) -> int:
    command = import_module(f"yurt.cli.commands.{module}").COMMAND
    fields = {
        "verbose": options.verbose,
        "ui": options.ui,
        "json": options.json,
        "template": options.template,
    }
    known = {name: value for name, value in fields.items() if name in command.options.__struct_fields__}
    return int(command.run(session, command.options(**known), arguments))


COMMAND = Command(
    path="status",
    options=Options,
    run=run,
    usage="[options] <identifier>",
    description="""
        Display the status output for any given resource. The command will detect the type of resource
        being queried and display the appropriate status output. Without an identifier the jobs are
        listed.
    """,
)
