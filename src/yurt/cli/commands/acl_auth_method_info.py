"""`yurt acl auth-method info`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.auth_view import show_auth_method
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show an auth method."""
    name = one_argument(arguments, "<acl_auth_method_name>")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error reading ACL auth method"):
        answer = acl.read_auth_method(session.client, name)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        show_auth_method(session, answer.value)
    return 0


COMMAND = Command(
    path="acl auth-method info",
    options=FormatOptions,
    run=run,
    usage="[options] <acl_auth_method_name>",
    description="""
        Info is used to fetch information on an existing ACL auth method. Requires a management token.
    """,
)
