"""`yurt logs`: what a job or an allocation has written."""

import re
from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.commands import alloc_logs
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.log_merge import LogChoice, LogMerger
from yurt.cli.lookup import find_job
from yurt.cli.tail import DEFAULT_TAIL_LINES
from yurt.sdk import Client, allocs, jobs

# An allocation that has ended brings its change; a job that is stopped without one is seen after this time.
LOOK_INTERVAL_S = 5.0
ID_PREFIX = re.compile(r"[0-9a-f][0-9a-f-]+")


def run(session: Session, options: alloc_logs.Options, arguments: Sequence[str]) -> int:
    """Print the logs of an allocation's task or, when the name is a job's, of all its allocations."""
    if len(arguments) != 1 or options.by_job or _is_alloc(session, arguments[0]):
        return alloc_logs.run(session, options, arguments)
    if options.stdout and options.stderr:
        raise CommandError("Unable to support both stdout and stderr")
    if options.byte_count is not None:
        raise CommandError("-c counts the bytes of one log; use -tail with -n for those of a job")
    job_id, client = find_job(session, arguments[0])
    kinds = ("stdout",) if options.stdout else ("stderr",) if options.stderr else ("stdout", "stderr")
    choice = LogChoice(
        kinds=kinds,
        group=options.group or "",
        task=options.task or "",
        tail_lines=(options.lines or DEFAULT_TAIL_LINES) if options.tail else None,
    )
    merger = LogMerger(session, client, choice, follow=options.follow)
    try:
        if options.follow:
            _follow(client, job_id, merger)
        else:
            with failing_as("Error fetching allocations"):
                merger.update(jobs.allocations(client, job_id).value)
        merger.finish()
    except KeyboardInterrupt:
        if not options.follow:
            raise
    return 0


def _is_alloc(session: Session, name: str) -> bool:
    if not ID_PREFIX.fullmatch(name):
        return False
    with failing_as("Error querying allocation"):
        return bool(allocs.listing(session.client, prefix=name[: len(name) // 2 * 2], per_page=1).value)


def _follow(client: Client, job_id: str, merger: LogMerger) -> None:
    """Show the merger what runs until the job has ended."""
    index = 0
    while True:
        with failing_as("Error fetching allocations"):
            answer = jobs.wait_allocations(client, job_id, index=index, wait_s=LOOK_INTERVAL_S)
        index = max(answer.index, 1)
        merger.update(answer.value)
        if all(alloc.client_status in allocs.ENDED for alloc in answer.value):
            with failing_as("Error querying job"):
                if jobs.read(client, job_id).value.status == "dead":
                    return


COMMAND = Command(
    path="logs",
    options=alloc_logs.Options,
    run=run,
    usage="[options] <job>\nUsage: yurt logs [options] <allocation> [<task>]",
    description="""
        Prints the logs of all allocations of a job as one stream. Each line is headed by the group and
        number, the task and the allocation it comes from. What tasks write to stderr goes to stderr.

        With -f it goes on: allocations that appear later join in, and it ends with the job. Choose with
        -group, -task, -stdout and -stderr.

        Given an allocation, or -job, it is the same as 'yurt alloc logs'.

        When ACLs are enabled, this command requires a token with the 'read-logs' and 'read-job'
        capabilities for the job's namespace.
    """,
)
