"""`yurt operator root keyring list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseOptions
from yurt.cli.errors import failing_as
from yurt.cli.keyring_view import key_table
from yurt.sdk import operator


def run(session: Session, options: VerboseOptions, arguments: Sequence[str]) -> int:
    """List keys."""
    no_arguments(arguments)
    with failing_as("Error querying the keyring"):
        keys = operator.root_keys(session.client).value
    session.console.output(key_table(keys, verbose=options.verbose))
    return 0


COMMAND = Command(
    path="operator root keyring list",
    options=VerboseOptions,
    run=run,
    usage="[options]",
    description="""
        List the currently installed keys that encrypt variables and sign identities.

        If ACLs are enabled, this command requires a token with the 'operator:read' or 'keyring-read'
        capability.
    """,
)
