"""`yurt acl role delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import acl


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a role."""
    role_id = one_argument(arguments, "<acl_role_id>")
    with failing_as("Error deleting ACL role"):
        acl.delete_role(session.client, role_id)
    session.console.output(f"ACL role {role_id} successfully deleted")
    return 0


COMMAND = Command(
    path="acl role delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <acl_role_id>",
    description="""
        Delete is used to delete an existing ACL role. Use requires a management token.
    """,
)
