"""`yurt operator raft transfer-leadership`: make another server the leader."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import operator


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator raft transfer-leadership`."""

    peer_id: Annotated[str, Flag("peer-id", "The ID of the new leader.", "<id>")] = ""
    peer_address: Annotated[str, Flag("peer-address", "The address of the new leader.", "<ip:port>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Transfer leadership."""
    no_arguments(arguments)
    if bool(options.peer_id) == bool(options.peer_address):
        raise CommandError("Exactly one of -peer-id and -peer-address is required")
    target = {"id": options.peer_id} if options.peer_id else {"address": options.peer_address}
    with failing_as("Error transferring leadership"):
        operator.transfer_leadership(session.client, **target)
    session.console.output(f"Transferred leadership to {options.peer_id or options.peer_address}")
    return 0


COMMAND = Command(
    path="operator raft transfer-leadership",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Transfer leadership to the server with the given ID or address.

        If ACLs are enabled, this command requires a management token.
    """,
)
