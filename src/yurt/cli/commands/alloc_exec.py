"""`yurt alloc exec`: run a command in a task."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.alloc_choice import check_running, check_task, choose_alloc, only_task
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.exec_terminal import run_remote
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import SdkError
from yurt.sdk.exec_session import ExecSession


class ExecOptions(GeneralOptions, frozen=True, kw_only=True):
    """The flags of commands that run something in a task."""

    task: Annotated[str, Flag("task", "The task to run the command in.", "<task-name>")] = ""
    group: Annotated[
        str, Flag("group", "The group to choose an allocation of a job from.", "<group-name>")
    ] = ""
    interactive: Annotated[bool, Flag("i", "Pass stdin to the command. Default = true", also=())] = True
    tty: Annotated[
        bool | None,
        Flag("t", "Allocate a pseudo-tty. Default = true if stdin and stdout are terminals"),
    ] = None
    both: Annotated[bool, Flag("it", "Short for -i -t.", also=("ti",), is_hidden=True)] = False
    escape: Annotated[
        str,
        Flag(
            "e",
            "The escape character of a session with a pseudo-tty; at the start of a line and followed by "
            "a dot it closes the session. 'none' disables it. Default = ~",
            "<char>",
        ),
    ] = "~"


class Options(ExecOptions, frozen=True, kw_only=True):
    """The flags of `alloc exec`."""

    by_job: Annotated[
        bool, Flag("job", "Use a random allocation from the specified job, preferring a running one.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Run a command."""
    if not arguments:
        raise UsageError("A job ID is required" if options.by_job else "An allocation ID is required")
    if len(arguments) == 1:
        raise UsageError("A command is required")
    alloc = choose_alloc(session, arguments[0], by_job=options.by_job, group=options.group, task=options.task)
    task = options.task or only_task(alloc)
    check_task(alloc, task)
    check_running(alloc, task)
    tty = wants_tty(session, options)
    try:
        remote = ExecSession.in_task(
            session.client, alloc.id, task=task, command=list(arguments[1:]), tty=tty
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


def wants_tty(session: Session, options: ExecOptions) -> bool:
    """Whether the command gets a terminal. Asking for one without having one is an error."""
    has_terminal = session.console.stdin.isatty() and session.console.stdout.isatty()
    wanted = True if options.both else options.tty
    if wanted and not has_terminal:
        raise CommandError("failed to exec into task: not a terminal")
    return has_terminal if wanted is None else wanted


def escape_of(options: ExecOptions) -> str:
    """The escape character; empty when there is none."""
    if options.escape == "none":
        return ""
    if len(options.escape) != 1:
        raise CommandError("-e requires 'none' or a single character")
    return options.escape


COMMAND = Command(
    path="alloc exec",
    aliases=("exec",),
    options=Options,
    run=run,
    usage="[options] <allocation> <command> [<args>...]",
    description="""
        Run command inside the environment of the given allocation and task. The exit code is that of the
        command.

        When ACLs are enabled, this command requires a token with the 'alloc-exec', 'read-job', and
        'list-jobs' capabilities for the allocation's namespace. If the task driver does not have file
        system isolation (as with 'raw_exec'), this command requires the 'alloc-node-exec', 'read-job',
        and 'list-jobs' capabilities for the allocation's namespace.
    """,
)
