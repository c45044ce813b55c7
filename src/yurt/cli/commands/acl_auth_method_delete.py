"""`yurt acl auth-method delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import acl


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete an auth method."""
    name = one_argument(arguments, "<acl_auth_method_name>")
    with failing_as("Error deleting ACL auth method"):
        acl.delete_auth_method(session.client, name)
    session.console.output(f"ACL auth method {name} successfully deleted")
    return 0


COMMAND = Command(
    path="acl auth-method delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <acl_auth_method_name>",
    description="""
        Delete is used to delete an existing ACL auth method. Use requires a management token.
    """,
)
