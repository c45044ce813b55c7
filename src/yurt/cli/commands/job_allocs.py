"""`yurt job allocs`: the allocations of a job."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.cli.tables import alloc_table, newest_first
from yurt.sdk import jobs


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `job allocs`."""

    all: Annotated[
        bool, Flag("all", "Display all allocations matching the job ID, even those from an older instance.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List the allocations of a job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    with failing_as("Error retrieving allocations"):
        answer = jobs.allocations(client, job_id, every_instance=options.all)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    listing = alloc_table(newest_first(answer.value), now=session.now(), verbose=options.verbose)
    session.console.output(listing)
    return 0


COMMAND = Command(
    path="job allocs",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Display allocations for a particular job.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the job's
        namespace. The 'list-jobs' capability is required to run the command with a job prefix instead of
        the exact job ID.
    """,
)
