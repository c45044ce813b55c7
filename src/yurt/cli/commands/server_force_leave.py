"""`yurt server force-leave`: declare a server gone."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import agent


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `server force-leave`."""

    prune: Annotated[bool, Flag("prune", "Remove the server from the list of members altogether.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Force a server out."""
    name = one_argument(arguments, "<node>")
    with failing_as("Error force-leaving server"):
        agent.force_leave(session.client, name, prune=options.prune)
    return 0


COMMAND = Command(
    path="server force-leave",
    options=Options,
    run=run,
    usage="[options] <node>",
    description="""
        Forces a server to enter the "left" state. This can be used to eject nodes which have failed and
        will not rejoin the cluster. Note that if the member is actually still alive, it will eventually
        rejoin the cluster again.

        If ACLs are enabled, this option requires a token with the 'agent:write' capability.
    """,
)
