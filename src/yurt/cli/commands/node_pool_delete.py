"""`yurt node pool delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import node_pools


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a node pool."""
    name = one_argument(arguments, "<node-pool>")
    with failing_as("Error deleting node pool"):
        node_pools.delete(session.client, name)
    session.console.output(f'Successfully deleted node pool "{name}"!')
    return 0


COMMAND = Command(
    path="node pool delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <node-pool>",
    description="""
        Delete is used to remove a node pool. It must not have nodes or running jobs.

        If ACLs are enabled, this command requires a token with the 'delete' capability in a 'node_pool'
        policy that matches the node pool being targeted.
    """,
)
