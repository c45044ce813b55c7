"""`yurt acl token self`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.token_view import show_token
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show the token in use."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error fetching self token"):
        answer = acl.read_token(session.client, "self")
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        show_token(session, answer.value)
    return 0


COMMAND = Command(
    path="acl token self",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        Self is used to fetch information about the currently set ACL token.
    """,
)
