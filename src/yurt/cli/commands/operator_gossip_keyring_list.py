"""`yurt operator gossip keyring list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.options import GeneralOptions
from yurt.sdk import agent


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """List gossip keys."""
    no_arguments(arguments)
    with failing_as("Error listing keys"):
        keys = agent.gossip_keys(session.client)
    session.console.output(table([["Key"], *([key] for key in sorted(keys))]))
    return 0


COMMAND = Command(
    path="operator gossip keyring list",
    options=GeneralOptions,
    run=run,
    usage="[options]",
    description="""
        List all keys that encrypt gossip between servers.

        If ACLs are enabled, this command requires a token with the 'agent:write' capability.
    """,
)
