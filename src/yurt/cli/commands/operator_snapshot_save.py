"""`yurt operator snapshot save`: write the servers' state to a file."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.snapshot_file import SnapshotProblem, check_digest
from yurt.model.times import SECOND_NS
from yurt.sdk import snapshots


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator snapshot save`."""

    stale: Annotated[
        bool, Flag("stale", "Let any server answer, not only the leader; for clusters that have lost theirs.")
    ] = False
    redact: Annotated[bool, Flag("redact", "Leave key material out of the snapshot.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Save a snapshot, to a temporary name first."""
    if len(arguments) > 1:
        raise UsageError("This command takes one argument: <filename>")
    path = arguments[0] if arguments else _default_name(session.now())
    if os.path.exists(path):
        raise CommandError(f"Destination file already exists: {path!r}; name another one")
    part = f"{path}.tmp"
    try:
        with open(part, "xb") as file, failing_as("Failed to get snapshot"):
            digest = snapshots.save(session.client, file, stale=options.stale, redact=options.redact)
            file.flush()
            os.fsync(file.fileno())
        check_digest(part, digest)
        os.rename(part, path)
    except SnapshotProblem as error:
        raise CommandError(f"Failed to validate snapshot {part!r}: {error}") from error
    except OSError as error:
        raise CommandError(f"Failed to write snapshot file {part!r}: {error.strerror}") from error
    session.console.output(f"State file written to {path}")
    return 0


def _default_name(now_ns: int) -> str:
    seconds = now_ns // SECOND_NS
    day = datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d")
    return f"yurt-state-{day}-{seconds}.snap"


COMMAND = Command(
    path="operator snapshot save",
    options=Options,
    run=run,
    usage="[options] <file>",
    description="""
        Retrieves an atomic, point-in-time snapshot of the state of the servers, which includes jobs,
        nodes, allocations, periodic jobs, and ACLs.

        If ACLs are enabled, a management token must be supplied in order to perform snapshot operations.

        To create a snapshot from the leader server and save it to "backup.snap":

          $ yurt operator snapshot save backup.snap
    """,
)
