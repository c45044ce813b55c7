"""`yurt monitor`: the log of an agent, as it is written."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.lookup import find_node
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import allocs


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `monitor`."""

    log_level: Annotated[str, Flag("log-level", "The level to show. Default = INFO", "<level>")] = ""
    log_include_location: Annotated[
        bool, Flag("log-include-location", "Name file and line in every log line.")
    ] = False
    node_id: Annotated[str, Flag("node-id", "Show the log of this node's agent.", "<node-id>")] = ""
    server_id: Annotated[
        str, Flag("server-id", "Show the log of this server; 'leader' is the leader.", "<server-id>")
    ] = ""
    json: Annotated[bool, Flag("json", "Show the log as JSON, one object a line.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Stream a log until interrupted."""
    no_arguments(arguments)
    node_id = ""
    if options.node_id:
        not_found = f'No node(s) with prefix or id "{options.node_id}" found'
        node_id = find_node(session, options.node_id, not_found=not_found, context="Error querying node").id
    try:
        with (
            failing_as("Error starting monitor"),
            session.client.stream(
                "/v1/agent/monitor",
                log_level=options.log_level,
                log_json=options.json,
                log_include_location=options.log_include_location,
                node_id=node_id,
                server_id=options.server_id,
            ) as stream,
        ):
            for data in allocs.data_of(stream):
                session.console.stdout.buffer.write(data)
                session.console.stdout.flush()
    except KeyboardInterrupt:
        return 0
    return 0


COMMAND = Command(
    path="monitor",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Stream log messages of an agent. The monitor command lets you listen for log levels that may be
        filtered out of the agent. For example your agent may only be logging at INFO level, but with the
        monitor command you can set -log-level DEBUG.

        When ACLs are enabled, this command requires a token with the 'agent:read' capability.
    """,
)
