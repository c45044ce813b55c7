"""`yurt job deployments`: the deployments of a job."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.deployment_view import deployment_record
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.cli.tables import deployment_table
from yurt.sdk import Client, jobs


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `job deployments`."""

    latest: Annotated[bool, Flag("latest", "Display the latest deployment only.")] = False
    all: Annotated[
        bool, Flag("all", "Display all deployments matching the job ID, even those from an older instance.")
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List the deployments of a job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    if options.latest:
        return _show_latest(session, client, job_id, options, is_machine_output=is_machine_output)
    with failing_as("Error retrieving deployments"):
        answer = jobs.deployments(client, job_id, every_instance=options.all)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    found = sorted(answer.value, key=lambda deployment: deployment.create_index, reverse=True)
    listing = deployment_table(found, verbose=options.verbose)
    session.console.output(listing if found else "No deployments found")
    return 0


def _show_latest(
    session: Session, client: Client, job_id: str, options: Options, *, is_machine_output: bool
) -> int:
    with failing_as("Error retrieving deployments"):
        answer = jobs.latest_deployment(client, job_id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    elif answer.value is None:
        session.console.output("No deployment found")
    else:
        session.console.output(deployment_record(session.console, answer.value, verbose=options.verbose))
    return 0


COMMAND = Command(
    path="job deployments",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Deployments is used to display the deployments for a particular job.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the job's
        namespace. The 'list-jobs' capability is required to run the command with a job prefix instead of
        the exact job ID.
    """,
)
