"""`yurt alloc pause`: pause tasks that run on a schedule."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.alloc_choice import check_task, only_task
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseOptions
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.lookup import find_alloc
from yurt.cli.options import Flag
from yurt.sdk import allocs

STATES = ("pause", "run", "scheduled")


class Options(VerboseOptions, frozen=True, kw_only=True):
    """The flags of `alloc pause`."""

    state: Annotated[
        str, Flag("state", "The state to set: pause, run or scheduled. Default = pause", "<state>")
    ] = "pause"
    status: Annotated[bool, Flag("status", "Show the state instead of setting it.")] = False
    task: Annotated[str, Flag("task", "The task to pause.", "<task-name>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Pause a task, or let it go on."""
    if len(arguments) not in {1, 2}:
        raise UsageError("This command takes one or two arguments: <alloc-id> <task-name>")
    if options.state not in STATES:
        raise CommandError(f"-state must be one of {', '.join(STATES)}, not {options.state!r}")
    alloc = find_alloc(session, arguments[0])
    task = options.task or (arguments[1] if len(arguments) == 2 else "") or only_task(alloc)
    check_task(alloc, task)
    with failing_as("Failed to query or set the pause state"):
        if options.status:
            session.console.output(allocs.pause_state(session.client, alloc.id, task))
        else:
            allocs.set_pause_state(session.client, alloc.id, task, options.state)
    return 0


COMMAND = Command(
    path="alloc pause",
    options=Options,
    run=run,
    usage="[options] <allocation> <task>",
    description="""
        Override the schedule of a task: pause it, run it, or put it back on schedule.

        When ACLs are enabled, this command requires a token with the 'submit-job' capability for the
        allocation's namespace.
    """,
)
