"""`yurt acl role list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.token_view import policies_of
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List roles."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing ACL roles"):
        answer = acl.list_roles(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    rows = [[role.id, role.name, role.description, policies_of(role)] for role in answer.value]
    listing = table([["ID", "Name", "Description", "Policies"], *rows])
    session.console.output(listing if rows else "No ACL roles found")
    return 0


COMMAND = Command(
    path="acl role list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list existing ACL roles. Requires a management token, or shows the roles of the
        token in use.
    """,
)
