"""`yurt node config`: the servers that a client knows."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import agent


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `node config`."""

    servers: Annotated[bool, Flag("servers", "List the known servers of the client.")] = False
    update_servers: Annotated[
        bool, Flag("update-servers", "Replace the client's server list by the given addresses.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show or replace the server list."""
    if options.servers == options.update_servers:
        raise UsageError("Either the '-servers' or '-update-servers' flag must be set")
    is_machine_output = wants_machine_output(options)
    if options.servers:
        with failing_as("Error querying server list"):
            found = agent.client_servers(session.client)
        if is_machine_output:
            show_value(session.console, options, list(found))
        else:
            session.console.output("\n".join(found))
        return 0
    if not arguments:
        raise UsageError("The '-update-servers' flag requires at least one server address")
    with failing_as("Error updating server list"):
        agent.set_client_servers(session.client, arguments)
    session.console.output(f"Updated server list to {', '.join(arguments)}")
    return 0


COMMAND = Command(
    path="node config",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        View or modify a client node's configuration details. This command only works on client nodes and
        can be used to update the running client configurations it supports.

        When ACLs are enabled, this command requires a token with the 'agent:read' capability, and
        'agent:write' to change something.
    """,
)
