"""`yurt operator raft logs`: the entries in a server's directory."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.commands.operator_raft_info import ENTRIES_FILE
from yurt.cli.errors import UsageError
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.offline_file import decoded, opened
from yurt.cli.options import Flag, FormatOptions


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `operator raft logs`."""

    pretty: Annotated[bool, Flag("pretty", "Indent the entries.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Print the entries, one a line; for a program as one list."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <path>")
    is_machine_output = wants_machine_output(options)
    indent = 2 if options.pretty else None
    with opened(arguments[0], ENTRIES_FILE) as log:
        rows = log.execute("SELECT entry_index, payload FROM entries ORDER BY entry_index")
        entries = ({"Index": index, "Entry": decoded(payload)} for index, payload in rows)
        if is_machine_output:
            show_value(session.console, options, list(entries))
            return 0
        for entry in entries:
            session.console.stdout.write(json.dumps(entry, indent=indent, ensure_ascii=False) + "\n")
    return 0


COMMAND = Command(
    path="operator raft logs",
    options=Options,
    run=run,
    usage="[options] <path to the data_dir of a server>",
    description="""
        Prints the entries of a server's log as JSON, one a line. It reads the server's directory and asks
        nobody; the server should be stopped. Entries may hold secrets: treat the output as such.
    """,
    is_offline=True,
)
