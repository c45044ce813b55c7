"""`yurt operator client-state`: what a node agent remembers."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.offline_file import decoded, opened
from yurt.cli.options import FormatOptions

STATE_FILE = "state.db"


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Print the state as JSON."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <path>")
    wants_machine_output(options)
    with opened(arguments[0], STATE_FILE) as state:
        reported = dict(state.execute("SELECT alloc_id, status FROM acknowledged"))
        found = {
            alloc_id: {"Alloc": decoded(record), "Reported": reported.get(alloc_id, ""), "Tasks": {}}
            for alloc_id, record in state.execute("SELECT id, record FROM allocs")
        }
        for alloc_id, task, record in state.execute("SELECT alloc_id, task, record FROM tasks"):
            found.setdefault(alloc_id, {"Alloc": None, "Reported": "", "Tasks": {}})["Tasks"][task] = decoded(
                record
            )
    show_value(session.console, options, {"Allocations": found})
    return 0


COMMAND = Command(
    path="operator client-state",
    options=FormatOptions,
    run=run,
    usage="<path to the data_dir of an agent>",
    description="""
        Prints what a node agent remembers of its allocations and tasks, as JSON. It reads the agent's
        directory and asks nobody; the agent should be stopped. It may hold secrets: treat it as such.
    """,
    is_offline=True,
)
