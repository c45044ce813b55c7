"""`yurt alloc restart`: restart the tasks of an allocation."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.alloc_choice import check_task
from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseOptions
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.lookup import find_alloc
from yurt.cli.options import Flag
from yurt.sdk import allocs


class Options(VerboseOptions, frozen=True, kw_only=True):
    """The flags of `alloc restart`."""

    task: Annotated[str, Flag("task", "The task to restart. Default = all running tasks", "<task-name>")] = ""
    all_tasks: Annotated[bool, Flag("all-tasks", "Restart all tasks, even those that have already run.")] = (
        False
    )


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Restart tasks."""
    if len(arguments) not in {1, 2}:
        raise UsageError("This command takes one or two arguments: <alloc-id> <task-name>")
    task = options.task or (arguments[1] if len(arguments) == 2 else "")
    if options.all_tasks and task:
        raise CommandError("The -all-tasks option is not allowed when restarting a specific task.")
    alloc = find_alloc(session, arguments[0])
    if task:
        check_task(alloc, task)
    with failing_as("Failed to restart allocation:\n\n"):
        allocs.restart(session.client, alloc.id, task=task, all_tasks=options.all_tasks)
    return 0


COMMAND = Command(
    path="alloc restart",
    options=Options,
    run=run,
    usage="[options] <allocation> <task>",
    description="""
        Restart an existing allocation. This command is used to restart a specific alloc and its tasks. If
        no task is provided then all of the allocation's tasks that are currently running will be
        restarted.

        When ACLs are enabled, this command requires a token with the 'alloc-lifecycle' and 'read-job'
        capabilities for the allocation's namespace.
    """,
)
