"""`yurt operator gossip keyring use`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import agent


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Use an installed key to encrypt gossip."""
    key = one_argument(arguments, "<key>")
    session.console.output("Changing primary gossip encryption key...")
    with failing_as("Error using key"):
        agent.change_gossip_key(session.client, "use", key)
    return 0


COMMAND = Command(
    path="operator gossip keyring use",
    options=GeneralOptions,
    run=run,
    usage="[options] <key>",
    description="""
        Use an installed key to encrypt gossip.

        If ACLs are enabled, this command requires a token with the 'agent:write' capability.
    """,
)
