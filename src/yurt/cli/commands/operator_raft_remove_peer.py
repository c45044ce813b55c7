"""`yurt operator raft remove-peer`: remove a server that will not come back."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import operator


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator raft remove-peer`."""

    peer_id: Annotated[str, Flag("peer-id", "The ID of the server to remove. Required.", "<id>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Remove a peer."""
    no_arguments(arguments)
    if not options.peer_id:
        raise CommandError("Missing peer id required: give it with -peer-id")
    with failing_as("Error removing peer"):
        operator.remove_raft_peer(session.client, options.peer_id)
    session.console.output(f'Removed peer with id "{options.peer_id}"')
    return 0


COMMAND = Command(
    path="operator raft remove-peer",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Remove the server with the given ID from those that agree on the state. Use it for a server that
        is gone for good and was not removed by itself.

        If ACLs are enabled, this command requires a management token.
    """,
)
