"""`yurt acl auth-method update`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.auth_view import show_auth_method
from yurt.cli.command import Command, Session
from yurt.cli.commands.acl_auth_method_create import MethodOptions, described
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import acl


def run(session: Session, options: MethodOptions, arguments: Sequence[str]) -> int:
    """Change an auth method."""
    name = one_argument(arguments, "<acl_auth_method_name>")
    is_machine_output = wants_machine_output(options)
    changes = described(session, options)
    if not changes:
        raise CommandError("Please provide at least one flag to update the ACL auth method")
    with failing_as("Error updating ACL auth method"):
        answer = acl.write_auth_method(session.client, {"Name": name, **changes}, name=name)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        show_auth_method(session, answer.value)
    return 0


COMMAND = Command(
    path="acl auth-method update",
    options=MethodOptions,
    run=run,
    usage="[options] <acl_auth_method_name>",
    description="""
        Update is used to update an existing ACL auth method; what is not given stays as it is. Use
        requires a management token.
    """,
)
