"""`yurt acl binding-rule list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List binding rules."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing ACL binding rules"):
        answer = acl.list_binding_rules(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    rows = [[rule.id, rule.description, rule.auth_method] for rule in answer.value]
    listing = table([["ID", "Description", "Auth Method"], *rows])
    session.console.output(listing if rows else "No ACL binding rules found")
    return 0


COMMAND = Command(
    path="acl binding-rule list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list existing ACL binding rules. Requires a management token.
    """,
)
