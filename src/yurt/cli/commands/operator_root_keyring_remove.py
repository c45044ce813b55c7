"""`yurt operator root keyring remove`."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import operator


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator root keyring remove`."""

    force: Annotated[bool, Flag("force", "Remove the key even if it was used.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Remove a key."""
    key_id = one_argument(arguments, "<key ID>")
    with failing_as("Error removing key"):
        operator.remove_root_key(session.client, key_id, force=options.force)
    session.console.output(f"Removed encryption key {key_id}")
    return 0


COMMAND = Command(
    path="operator root keyring remove",
    options=Options,
    run=run,
    usage="[options] <key ID>",
    description="""
        Remove the given key from the cluster. A key can only be removed when it is not in use.

        If ACLs are enabled, this command requires a management token or the 'keyring-delete' capability.
    """,
)
