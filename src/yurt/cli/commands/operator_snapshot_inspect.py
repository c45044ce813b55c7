"""`yurt operator snapshot inspect`: what a snapshot file holds."""

from collections.abc import Sequence
from typing import Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.layout import key_list, table
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import FormatOptions
from yurt.cli.sizes import format_size
from yurt.cli.snapshot_file import SnapshotInfo, SnapshotProblem, inspect_snapshot
from yurt.cli.times import absolute
from yurt.model.times import SECOND_NS


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Describe a snapshot file."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <file>")
    is_machine_output = wants_machine_output(options)
    path = arguments[0]
    try:
        info = inspect_snapshot(path)
    except SnapshotProblem as error:
        raise CommandError(f"Error inspecting snapshot: {error}") from error
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        raise CommandError(f"Error opening snapshot file: open {path}: {cause}") from error
    if is_machine_output:
        show_value(session.console, options, {"Meta": info.meta, "StateSize": info.state_bytes})
        return 0
    session.console.output(_keys(info))
    counts, sizes = info.meta.get("Tables"), info.meta.get("TableSizes")
    if isinstance(counts, dict) and counts:
        session.console.output("\n" + _tables(counts, sizes if isinstance(sizes, dict) else {}))
    return 0


def _keys(info: SnapshotInfo) -> str:
    meta = info.meta
    return key_list(
        [
            ("Created", absolute(info.modified * SECOND_NS)),
            ("ID", meta.get("ID", "")),
            ("Size", format_size(info.state_bytes)),
            ("Index", meta.get("Index", "")),
            ("Term", meta.get("Term", "")),
            ("Version", meta.get("Version", "")),
        ]
    )


def _tables(counts: dict[str, Any], sizes: dict[str, Any]) -> str:
    """The tables by size, and their sums after a row of blanks."""
    rows: list[list[object]] = [["Type", "Count", "Size"]]
    for name in sorted(counts, key=lambda name: (-int(sizes.get(name, 0)), -int(counts[name]), name)):
        rows.append([name, counts[name], format_size(int(sizes.get(name, 0)))])
    rows.append(["", "", ""])
    total = sum(int(size) for size in sizes.values())
    rows.append(["Total", sum(int(count) for count in counts.values()), format_size(total)])
    return table(rows, empty=" ")


COMMAND = Command(
    path="operator snapshot inspect",
    options=FormatOptions,
    run=run,
    usage="[options] <file>",
    description="""
        Displays information about a snapshot file on disk, and checks that it is whole.

        To inspect the file "backup.snap":

          $ yurt operator snapshot inspect backup.snap
    """,
    is_offline=True,
)
