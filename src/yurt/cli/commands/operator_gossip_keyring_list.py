"""`yurt operator gossip keyring list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import agent


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List gossip keys."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing keys"):
        answer = agent.gossip_keys(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(table([["Key"], *([key] for key in sorted(answer.value.keys))]))
    return 0


COMMAND = Command(
    path="operator gossip keyring list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List all keys that encrypt gossip between servers.

        If ACLs are enabled, this command requires a token with the 'agent:write' capability.
    """,
)
