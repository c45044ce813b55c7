"""`yurt acl token info`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.cli.token_view import show_token
from yurt.sdk import acl


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Show a token."""
    accessor = one_argument(arguments, "<token_accessor_id>")
    with failing_as("Error fetching token"):
        show_token(session, acl.read_token(session.client, accessor).value)
    return 0


COMMAND = Command(
    path="acl token info",
    options=GeneralOptions,
    run=run,
    usage="[options] <token_accessor_id>",
    description="""
        Info is used to fetch information on an existing ACL token. Requires a management token, or the
        token itself.
    """,
)
