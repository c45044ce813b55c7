"""`yurt quota delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import quotas


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a quota."""
    name = one_argument(arguments, "<quota>")
    with failing_as("Error deleting quota"):
        quotas.delete(session.client, name)
    session.console.output(f'Successfully deleted quota "{name}"!')
    return 0


COMMAND = Command(
    path="quota delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <quota>",
    description="""
        Delete is used to remove a quota. No namespace may have it.

        If ACLs are enabled, this command requires a token with the 'quota:write' capability.
    """,
)
