"""`yurt acl policy list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import name_table
from yurt.cli.options import FormatOptions
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List policies."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing ACL policies"):
        answer = acl.list_policies(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(name_table(answer.value) if answer.value else "No policies found")
    return 0


COMMAND = Command(
    path="acl policy list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list available ACL policies.

        This command requires a management ACL token to view all policies. A non-management token can
        query its own policies.
    """,
)
