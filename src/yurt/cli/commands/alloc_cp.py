"""`yurt alloc cp`: copy files out of an allocation and into its tasks."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.alloc_choice import check_running, choose_alloc, only_task, task_names
from yurt.cli.alloc_copy import Place, copy_in, copy_out, inner_path, read_place
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk.types.allocs import Alloc


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `alloc cp`."""

    by_job: Annotated[
        bool, Flag("job", "Use a random allocation from the specified job, preferring a running one.")
    ] = False
    group: Annotated[str, Flag("group", "With -job, the group to choose from.", "<group-name>")] = ""
    task: Annotated[
        str, Flag("task", "The task to copy into, where an allocation has several.", "<task-name>")
    ] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Copy one way or the other."""
    if len(arguments) != 2:
        raise UsageError("This command takes two arguments: <source> <destination>")
    source, destination = (read_place(text) for text in arguments)
    if bool(source.alloc) == bool(destination.alloc):
        raise CommandError(
            "One of the two must be in an allocation, the other here: write <allocation>:<path>"
        )
    remote = source if source.alloc else destination
    alloc = choose_alloc(session, remote.alloc, by_job=options.by_job, group=options.group)
    client = session.client.within(namespace=alloc.namespace)
    if source.alloc:
        copied = copy_out(client, alloc.id, source.path, destination.path)
    else:
        task = _task(alloc, destination, options.task)
        check_running(alloc, task)
        copied = copy_in(client, alloc, task, source=source.path, destination=destination.path)
    session.console.output(f"Copied {copied.files} files, {copied.byte_count} bytes")
    return 0


def _task(alloc: Alloc, destination: Place, named: str) -> str:
    """The task to copy into: the one that is named, that the path is of, or the only one."""
    first = destination.path.strip("/").split("/")[0]
    task = named or (first if first in task_names(alloc) else only_task(alloc))
    inner_path(destination.path, task)  # refuses what it cannot name before anything is sent
    return task


COMMAND = Command(
    path="alloc cp",
    options=Options,
    run=run,
    usage="[options] <allocation>:<path> <local path>\n"
    "Usage: yurt alloc cp [options] <local path> <allocation>:<path>",
    description="""
        Copies files and directories. Paths in an allocation are those of 'yurt alloc fs': alloc/... is what
        all its tasks share, <task>/local/... is a task's own directory, <task>/secrets/... its secrets.

        Out of an allocation it reads what the node keeps, whether or not the task runs. Into one it goes
        through the task, which must run and have 'tar' and 'sh'.

          $ yurt alloc cp 8f3a:web/local/config.json .
          $ yurt alloc cp -job ./site web:alloc/data/site

        When ACLs are enabled, this command requires a token with the 'read-fs' capability for the
        allocation's namespace to copy out, and 'alloc-exec' to copy in.
    """,
)
