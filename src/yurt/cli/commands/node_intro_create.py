"""`yurt node intro create`: a token that introduces a new node."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import acl


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `node intro create`."""

    node_name: Annotated[str, Flag("node-name", "The only node that may use the token.", "<name>")] = ""
    node_pool: Annotated[
        str, Flag("node-pool", "The only pool that the token is good for. Default = default", "<pool>")
    ] = "default"
    ttl: Annotated[str, Flag("ttl", "How long the token is good for.", "<duration>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Create an introduction token."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    request = {"NodeName": options.node_name, "NodePool": options.node_pool, "TTL": options.ttl}
    with failing_as("Error generating introduction token"):
        answer = acl.create_introduction_token(session.client, request)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(f"Successfully generated client introduction token:\n\n{answer.value.jwt}")
    return 0


COMMAND = Command(
    path="node intro create",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Generate a token that a new node can use to authenticate when it registers for the first time.

        When ACLs are enabled, this command requires a token with the 'node:write' capability.
    """,
)
