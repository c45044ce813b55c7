"""`yurt acl bootstrap`: make the first management token."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.spec_file import read_text
from yurt.cli.token_view import show_token
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Bootstrap access control."""
    if len(arguments) > 1:
        raise UsageError("This command takes 0 or 1 argument: <path>")
    is_machine_output = wants_machine_output(options)
    secret = read_text(session, arguments[0], "root token").strip() if arguments else ""
    with failing_as("Error bootstrapping"):
        answer = acl.bootstrap(session.client, secret)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        show_token(session, answer.value)
    return 0


COMMAND = Command(
    path="acl bootstrap",
    options=FormatOptions,
    run=run,
    usage="[options] [<path>]",
    description="""
        Bootstrap is used to bootstrap the ACL system and get an initial token. The secret of the token is
        generated, unless a path, or "-" for stdin, supplies it.

        This command works only once. To repeat it, a reset file must be placed on the leader.
    """,
)
