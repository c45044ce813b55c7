"""`yurt acl token delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import acl


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a token."""
    accessor = one_argument(arguments, "<token_accessor_id>")
    with failing_as("Error deleting token"):
        acl.delete_token(session.client, accessor)
    session.console.output(f"Token {accessor} successfully deleted")
    return 0


COMMAND = Command(
    path="acl token delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <token_accessor_id>",
    description="""
        Delete is used to delete an existing ACL token. Requires a management token.
    """,
)
