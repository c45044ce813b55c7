"""`yurt operator root keyring list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import failing_as
from yurt.cli.keyring_view import key_table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import operator


def run(session: Session, options: VerboseFormatOptions, arguments: Sequence[str]) -> int:
    """List keys."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying the keyring"):
        answer = operator.root_keys(session.client)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    session.console.output(key_table(answer.value, verbose=options.verbose))
    return 0


COMMAND = Command(
    path="operator root keyring list",
    options=VerboseFormatOptions,
    run=run,
    usage="[options]",
    description="""
        List the currently installed keys that encrypt variables and sign identities.

        If ACLs are enabled, this command requires a token with the 'operator:read' or 'keyring-read'
        capability.
    """,
)
