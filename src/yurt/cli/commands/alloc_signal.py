"""`yurt alloc signal`: send a signal to the tasks of an allocation."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.alloc_choice import check_task
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseOptions
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_alloc
from yurt.cli.options import Flag
from yurt.sdk import allocs


class Options(VerboseOptions, frozen=True, kw_only=True):
    """The flags of `alloc signal`."""

    signal: Annotated[
        str, Flag("s", "The signal that the tasks should receive. Default = SIGKILL", "<signal>")
    ] = "SIGKILL"
    task: Annotated[str, Flag("task", "The task to signal. Default = all tasks", "<task-name>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Signal tasks."""
    if len(arguments) not in {1, 2}:
        raise UsageError("This command takes up to two arguments: <alloc-id> <task>")
    task = options.task or (arguments[1] if len(arguments) == 2 else "")
    alloc = find_alloc(session, arguments[0])
    if task:
        check_task(alloc, task)
    with failing_as("Error signalling allocation"):
        allocs.signal(session.client, alloc.id, task=task, signal_name=options.signal)
    return 0


COMMAND = Command(
    path="alloc signal",
    options=Options,
    run=run,
    usage="[options] <allocation> <task>",
    description="""
        Signal an existing allocation. This command is used to signal a specific alloc and its subtasks.
        If no task is provided then all of the allocations subtasks will receive the signal.

        When ACLs are enabled, this command requires a token with the 'alloc-lifecycle' and 'read-job'
        capabilities for the allocation's namespace.
    """,
)
