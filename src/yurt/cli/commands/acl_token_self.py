"""`yurt acl token self`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.cli.token_view import show_token
from yurt.sdk import acl


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Show the token in use."""
    no_arguments(arguments)
    with failing_as("Error fetching self token"):
        show_token(session, acl.read_token(session.client, "self").value)
    return 0


COMMAND = Command(
    path="acl token self",
    options=GeneralOptions,
    run=run,
    usage="[options]",
    description="""
        Self is used to fetch information about the currently set ACL token.
    """,
)
