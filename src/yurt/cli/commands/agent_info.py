"""`yurt agent-info`: what an agent says about itself."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import agent


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show an agent's statistics."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying agent info"):
        answer = agent.read_self(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    stats = answer.value.stats
    for group in sorted(stats):
        session.console.output(group)
        session.console.output("\n".join(f"  {key} = {stats[group][key]}" for key in sorted(stats[group])))
    return 0


COMMAND = Command(
    path="agent-info",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        Display status information about the local agent.

        When ACLs are enabled, this command requires a token with the 'agent:read' capability.
    """,
)
