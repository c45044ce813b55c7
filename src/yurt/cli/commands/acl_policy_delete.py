"""`yurt acl policy delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import acl


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a policy."""
    name = one_argument(arguments, "<name>")
    with failing_as("Error deleting ACL policy"):
        acl.delete_policy(session.client, name)
    session.console.output(f"Successfully deleted {name} policy!")
    return 0


COMMAND = Command(
    path="acl policy delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <name>",
    description="""
        Delete is used to delete an existing ACL policy. This command requires a management ACL token.
    """,
)
