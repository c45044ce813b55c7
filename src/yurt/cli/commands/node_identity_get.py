"""`yurt node identity get`: the claims of a node's identity."""

import json
from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.lookup import find_node
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import nodes


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show claims."""
    is_machine_output = wants_machine_output(options)
    text = one_argument(arguments, "<node_id>")
    not_found = f'No node(s) with prefix or id "{text}" found'
    node_id = find_node(session, text, not_found=not_found, context="Error querying node").id
    with failing_as("Error getting node identity"):
        claims = json.loads(nodes.identity(session.client, node_id))["Claims"]
    if is_machine_output:
        show_value(session.console, options, claims)
        return 0
    rows = [[key, claims[key]] for key in sorted(claims)]
    session.console.output(table([["Claim Key", "Claim Value"], *rows]))
    return 0


COMMAND = Command(
    path="node identity get",
    options=FormatOptions,
    run=run,
    usage="[options] <node_id>",
    description="""
        Get the identity claims of a node.

        When ACLs are enabled, this command requires a token with the 'node:read' capability.
    """,
)
