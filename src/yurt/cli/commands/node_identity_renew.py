"""`yurt node identity renew`: have a node fetch a new identity."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.lookup import find_node
from yurt.cli.options import GeneralOptions
from yurt.sdk import nodes


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Renew an identity."""
    text = one_argument(arguments, "<node_id>")
    not_found = f'No node(s) with prefix or id "{text}" found'
    node_id = find_node(session, text, not_found=not_found, context="Error querying node").id
    with failing_as("Error requesting node identity renewal"):
        nodes.renew_identity(session.client, node_id)
    return 0


COMMAND = Command(
    path="node identity renew",
    options=GeneralOptions,
    run=run,
    usage="[options] <node_id>",
    description="""
        Instruct a node to renew its identity at the next heartbeat.

        When ACLs are enabled, this command requires a token with the 'node:write' capability.
    """,
)
