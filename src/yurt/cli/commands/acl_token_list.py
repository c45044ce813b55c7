"""`yurt acl token list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.times import time_of
from yurt.sdk import acl


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """List tokens."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error listing tokens"):
        answer = acl.list_tokens(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    if not answer.value:
        session.console.output("No tokens found")
        return 0
    now = session.now()
    rows: list[list[object]] = [["Name", "Type", "Global", "Accessor ID", "Expired"]]
    for token in answer.value:
        is_expired = bool(token.expiration_time) and 0 < time_of(token.expiration_time) < now
        rows.append([token.name, token.type, token.is_global, token.accessor_id, is_expired])
    session.console.output(table(rows))
    return 0


COMMAND = Command(
    path="acl token list",
    options=FormatOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list existing ACL tokens. Requires a management token.
    """,
)
