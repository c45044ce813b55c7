"""`yurt acl token info`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.token_view import show_token
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a token."""
    accessor = one_argument(arguments, "<token_accessor_id>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error fetching token"):
        answer = acl.read_token(session.client, accessor)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        show_token(session, answer.value)
    return 0


COMMAND = Command(
    path="acl token info",
    options=FormatOptions,
    run=run,
    usage="[options] <token_accessor_id>",
    description="""
        Info is used to fetch information on an existing ACL token. Requires a management token, or the
        token itself.
    """,
)
