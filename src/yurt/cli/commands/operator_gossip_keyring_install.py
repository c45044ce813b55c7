"""`yurt operator gossip keyring install`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import agent


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Install a new key on all servers, without using it yet."""
    key = one_argument(arguments, "<key>")
    session.console.output("Installing new gossip encryption key...")
    with failing_as("Error installing key"):
        agent.change_gossip_key(session.client, "install", key)
    return 0


COMMAND = Command(
    path="operator gossip keyring install",
    options=GeneralOptions,
    run=run,
    usage="[options] <key>",
    description="""
        Install a new key on all servers, without using it yet.

        If ACLs are enabled, this command requires a token with the 'agent:write' capability.
    """,
)
