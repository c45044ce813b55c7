"""`yurt acl auth-method list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List auth methods."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing ACL auth methods"):
        answer = acl.list_auth_methods(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    rows = [[method.name, method.type, method.default] for method in answer.value]
    listing = table([["Name", "Type", "Default"], *rows])
    session.console.output(listing if rows else "No ACL auth methods found")
    return 0


COMMAND = Command(
    path="acl auth-method list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list existing ACL auth methods.
    """,
)
