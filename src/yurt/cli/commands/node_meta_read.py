"""`yurt node meta read`: the metadata of a node."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import key_list
from yurt.cli.lookup import find_node
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import nodes


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `node meta read`."""

    node_id: Annotated[
        str, Flag("node-id", "The node to read. Default = the node that is asked", "<node>")
    ] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show metadata."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    node_id = ""
    if options.node_id:
        not_found = f'No node(s) with prefix or id "{options.node_id}" found'
        node_id = find_node(session, options.node_id, not_found=not_found, context="Error querying node").id
    with failing_as("Error reading dynamic node metadata"):
        answer = nodes.read_meta(session.client, node_id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    console = session.console
    # A key that was unset through the API is a null there, which the typed answer leaves out.
    dynamic = json.loads(answer.body).get("Dynamic") or {}
    unset = {key: "<unset>" if value is None else value for key, value in dynamic.items()}
    console.output(console.bold("All Meta"))
    console.output(key_list(sorted(answer.value.meta.items())))
    for title, values in (("Dynamic Meta", unset), ("Static Meta", answer.value.static)):
        console.heading(title)
        console.output(key_list(sorted(values.items())) if values else "None")
    return 0


COMMAND = Command(
    path="node meta read",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Read a node's metadata. This command only works on client agents. The node is the one that is
        asked, unless -node-id names another.

        When ACLs are enabled, this command requires a token with the 'node:read' capability.
    """,
)
