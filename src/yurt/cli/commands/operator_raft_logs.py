"""`yurt operator raft logs`: the entries in a server's directory."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.commands.operator_raft_info import ENTRIES_FILE
from yurt.cli.errors import UsageError
from yurt.cli.offline_file import decoded, opened
from yurt.cli.options import Flag, GeneralOptions


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `operator raft logs`."""

    pretty: Annotated[bool, Flag("pretty", "Indent the entries.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Print the entries, one a line."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <path>")
    indent = 2 if options.pretty else None
    with opened(arguments[0], ENTRIES_FILE) as log:
        for index, payload in log.execute("SELECT entry_index, payload FROM entries ORDER BY entry_index"):
            entry = {"Index": index, "Entry": decoded(payload)}
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
