"""`yurt node pool nodes`: the nodes of a pool."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.lookup import node_table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import find_pool
from yurt.cli.options import Flag
from yurt.cli.paging import PagingOptions, show_next_page
from yurt.sdk import node_pools


class Options(PagingOptions, frozen=True, kw_only=True):
    """The flags of `node pool nodes`."""

    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List the nodes of a pool."""
    is_machine_output = wants_machine_output(options)
    pool = find_pool(session, one_argument(arguments, "<node-pool>"))
    with failing_as("Error querying nodes"):
        answer = node_pools.nodes(session.client, pool.name, **options.query())
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    listing = node_table(answer.value, verbose=options.verbose)
    session.console.output(listing if answer.value else "No nodes")
    show_next_page(session, answer.next_token)
    return 0


COMMAND = Command(
    path="node pool nodes",
    options=Options,
    run=run,
    usage="[options] <node-pool>",
    description="""
        Nodes is used to list the nodes in a node pool.

        If ACLs are enabled, this command requires a token with the 'node:read' capability and the 'read'
        capability in a 'node_pool' policy that matches the node pool being targeted.
    """,
)
