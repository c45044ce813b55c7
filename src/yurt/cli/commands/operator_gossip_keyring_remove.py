"""`yurt operator gossip keyring remove`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import agent


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Remove a key that is not in use."""
    key = one_argument(arguments, "<key>")
    session.console.output("Removing gossip encryption key...")
    with failing_as("Error removing key"):
        agent.change_gossip_key(session.client, "remove", key)
    return 0


COMMAND = Command(
    path="operator gossip keyring remove",
    options=GeneralOptions,
    run=run,
    usage="[options] <key>",
    description="""
        Remove a key that is not in use.

        If ACLs are enabled, this command requires a token with the 'agent:write' capability.
    """,
)
