"""`yurt quota list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import name_table
from yurt.cli.options import FormatOptions
from yurt.sdk import quotas


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List quotas by name."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error retrieving quotas"):
        answer = quotas.listing(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    elif answer.value:
        session.console.output(name_table(answer.value))
    else:
        session.console.output("No quotas found")
    return 0


COMMAND = Command(
    path="quota list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list available quotas.

        If ACLs are enabled, this command requires a token with the 'quota:read' capability.
    """,
)
