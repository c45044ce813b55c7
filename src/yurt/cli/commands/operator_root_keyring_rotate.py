"""`yurt operator root keyring rotate`."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.keyring_view import key_table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import operator


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `operator root keyring rotate`."""

    now: Annotated[bool, Flag("now", "Use the new key at once.")] = False
    prepublish: Annotated[
        int | None,
        Flag(
            "prepublish", "Announce the new key this long before it is used.", "<duration>", form="duration"
        ),
    ] = None
    full: Annotated[bool, Flag("full", "Encrypt all variables anew with the new key.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Make a new key."""
    no_arguments(arguments)
    if options.now == (options.prepublish is not None):
        raise CommandError("Exactly one of -now and -prepublish must be used")
    is_machine_output = wants_machine_output(options)
    publish_time = session.now() + options.prepublish if options.prepublish is not None else 0
    with failing_as("Error rotating the keyring"):
        answer = operator.rotate_root_key(session.client, full=options.full, publish_time=publish_time)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    else:
        session.console.output(key_table([answer.value.key], verbose=options.verbose))
    return 0


COMMAND = Command(
    path="operator root keyring rotate",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Generate a new key for all future variables and identities.

        If ACLs are enabled, this command requires a management token or the 'keyring-rotate' capability.
    """,
)
