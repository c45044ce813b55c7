"""`yurt namespace delete`."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import namespaces


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Delete a namespace."""
    name = one_argument(arguments, "<namespace>")
    with failing_as("Error deleting namespace"):
        namespaces.delete(session.client, name)
    session.console.output(f'Successfully deleted namespace "{name}"!')
    return 0


COMMAND = Command(
    path="namespace delete",
    options=GeneralOptions,
    run=run,
    usage="[options] <namespace>",
    description="""
        Delete is used to remove a namespace. It must not have jobs, allocations, volumes or variables.

        If ACLs are enabled, this command requires a management ACL token.
    """,
)
