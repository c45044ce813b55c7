"""`yurt namespace list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import name_table
from yurt.cli.options import FormatOptions
from yurt.sdk import namespaces


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List namespaces by name."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error retrieving namespaces"):
        answer = namespaces.listing(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    elif answer.value:
        session.console.output(name_table(sorted(answer.value, key=lambda namespace: namespace.name)))
    else:
        session.console.output("No namespaces found")
    return 0


COMMAND = Command(
    path="namespace list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list available namespaces.

        If ACLs are enabled, namespaces the token may not use are left out.
    """,
)
