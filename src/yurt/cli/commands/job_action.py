"""`yurt job action`: run a command that a job file names."""

import random
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.commands.alloc_exec import ExecOptions, escape_of, wants_tty
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.exec_terminal import run_remote
from yurt.cli.lookup import find_alloc, find_job
from yurt.cli.options import Flag
from yurt.sdk import Client, SdkError, jobs
from yurt.sdk.exec_session import ExecSession


class Options(ExecOptions, frozen=True, kw_only=True):
    """The flags of `job action`."""

    job: Annotated[str, Flag("job", "The job that has the action. Required.", "<job-id>")] = ""
    alloc: Annotated[
        str, Flag("alloc", "The allocation to run in. Default = a random running one", "<allocation-id>")
    ] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Run an action."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <action name>")
    if not options.job:
        raise UsageError("A job ID is required")
    if not options.alloc and not options.group:
        raise UsageError("A group name is required if no allocation is provided")
    if not options.alloc and not options.task:
        raise UsageError("A task name is required if no allocation is provided")
    job_id, client = find_job(session, options.job)
    alloc_id = find_alloc(session, options.alloc).id if options.alloc else _random(client, job_id, options)
    tty = wants_tty(session, options)
    try:
        remote = ExecSession.of_action(
            client, job_id, alloc_id=alloc_id, task=options.task, action=arguments[0], tty=tty
        )
    except SdkError as error:
        raise CommandError(f"failed to exec into task: {error}") from error
    return run_remote(
        session.console,
        remote,
        reads_input=options.interactive or options.both,
        is_tty=tty,
        escape=escape_of(options),
    )


def _random(client: Client, job_id: str, options: Options) -> str:
    with failing_as("Error querying job allocations"):
        found = jobs.allocations(client, job_id).value
    running = [
        alloc.id
        for alloc in found
        if alloc.task_group == options.group
        and alloc.client_status == "running"
        and options.task in alloc.task_states
    ]
    if not running:
        raise CommandError(
            f"No running allocation of group {options.group!r} with task {options.task!r} "
            f"found in job {job_id!r}"
        )
    return random.choice(running)


COMMAND = Command(
    path="job action",
    aliases=("action",),
    options=Options,
    run=run,
    usage="[options] <action>",
    description="""
        Perform a predefined command inside the environment of the given allocation and task. The exit
        code is that of the command.

        When ACLs are enabled, this command requires a token with the 'alloc-exec', 'read-job', and
        'list-jobs' capabilities for the job's namespace.
    """,
)
