"""`yurt operator snapshot restore`: replace the servers' state by that of a file."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import snapshots


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Restore a snapshot."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <filename>")
    try:
        with open(arguments[0], "rb") as file, failing_as("Failed to restore snapshot"):
            snapshots.restore(session.client, file)
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise CommandError(f"Error opening snapshot file: open {arguments[0]}: {cause}") from error
    session.console.output("Snapshot Restored")
    return 0


COMMAND = Command(
    path="operator snapshot restore",
    options=GeneralOptions,
    run=run,
    usage="[options] <file>",
    description="""
        Restores an atomic, point-in-time snapshot of the state of the servers. Restores involve a
        potentially dangerous operation that is not designed to handle server failures during a restore.
        This command is primarily intended to be used when recovering from a disaster, restoring into a
        fresh cluster.

        If ACLs are enabled, a management token must be supplied in order to perform snapshot operations.
    """,
)
