"""`yurt server join`: have a server join others."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import agent


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Join servers."""
    if not arguments:
        raise UsageError("One or more node addresses must be given as arguments")
    with failing_as("Error joining"):
        joined = agent.join(session.client, arguments)
    if not joined.num_joined:
        raise CommandError(f"Error joining: {joined.error.strip()}")
    if joined.error:
        session.console.warn(joined.error.strip())
    session.console.output(f"Joined {joined.num_joined} servers successfully")
    return 0


COMMAND = Command(
    path="server join",
    options=GeneralOptions,
    run=run,
    usage="[options] <addr> [<addr>...]",
    description="""
        Joins the local server to one or more servers. Joining is only required for server nodes, and only
        needs to succeed against one or more of the provided addresses.

        If ACLs are enabled, this option requires a token with the 'agent:write' capability.
    """,
)
