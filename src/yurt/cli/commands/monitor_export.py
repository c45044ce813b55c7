"""`yurt monitor export`: what an agent has logged so far."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.lookup import find_node
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import allocs


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `monitor export`."""

    node_id: Annotated[str, Flag("node-id", "Export the log of this node's agent.", "<node-id>")] = ""
    server_id: Annotated[
        str, Flag("server-id", "Export the log of this server; 'leader' is the leader.", "<server-id>")
    ] = ""
    service_name: Annotated[
        str, Flag("service-name", "The unit of the journal that the agent runs as.", "<name>")
    ] = ""
    logs_since: Annotated[str, Flag("logs-since", "How far to go back. Default = 72h", "<duration>")] = ""
    follow: Annotated[bool, Flag("follow", "Go on as lines are written.")] = False
    on_disk: Annotated[bool, Flag("on-disk", "Export the agent's log file instead of the journal.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Print a log."""
    no_arguments(arguments)
    node_id = ""
    if options.node_id:
        not_found = f'No node(s) with prefix or id "{options.node_id}" found'
        node_id = find_node(session, options.node_id, not_found=not_found, context="Error querying node").id
    try:
        with (
            failing_as("Error exporting logs"),
            session.client.stream(
                "/v1/agent/monitor/export",
                node_id=node_id,
                server_id=options.server_id,
                service_name=options.service_name,
                logs_since=options.logs_since,
                follow=options.follow,
                on_disk=options.on_disk,
            ) as stream,
        ):
            for data in allocs.data_of(stream):
                session.console.stdout.buffer.write(data)
                session.console.stdout.flush()
    except KeyboardInterrupt:
        return 0
    return 0


COMMAND = Command(
    path="monitor export",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Prints what an agent has logged, from the journal of its machine (-service-name) or from its log file
        (-on-disk).

        When ACLs are enabled, this command requires a token with the 'agent:read' capability.
    """,
)
