"""`yurt operator raft info`: the log in a server's directory."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError
from yurt.cli.layout import key_list
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.offline_file import opened
from yurt.cli.options import FormatOptions

ENTRIES_FILE = "entries.db"


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Describe a log."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <path>")
    with opened(arguments[0], ENTRIES_FILE) as log:
        path = log.execute("PRAGMA database_list").fetchone()[2]
        count, first, last, size = log.execute(
            "SELECT count(*), coalesce(min(entry_index), 0), coalesce(max(entry_index), 0), "
            "coalesce(sum(length(payload)), 0) FROM entries"
        ).fetchone()
    facts = {"Path": path, "Length": count, "First Index": first, "Last Index": last, "Bytes": size}
    if wants_machine_output(options):
        show_value(session.console, options, {name.replace(" ", ""): value for name, value in facts.items()})
        return 0
    session.console.output(key_list(facts.items()))
    return 0


COMMAND = Command(
    path="operator raft info",
    options=FormatOptions,
    run=run,
    usage="[options] <path to the data_dir of a server>",
    description="""
        Says how many entries the log of a server holds, and which. It reads the server's directory and asks
        nobody; the server should be stopped.
    """,
    is_offline=True,
)
