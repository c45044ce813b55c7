"""`yurt job status`: the list of jobs, or one job."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.hints import job_page, show_hint
from yurt.cli.job_view import JobView
from yurt.cli.lookup import EVERY_NAMESPACE, find_job
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions, WatchFlag
from yurt.cli.tables import job_table
from yurt.sdk import Client, jobs


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `job status`."""

    watch: WatchFlag = False
    all_allocs: Annotated[
        bool,
        Flag(
            "all-allocs",
            "Display all allocations matching the job ID, including those from an older instance of the job.",
        ),
    ] = False
    evals: Annotated[bool, Flag("evals", "Display the evaluations associated with the job.")] = False
    short: Annotated[bool, Flag("short", "Display short output. Used only when a single job is queried.")] = (
        False
    )
    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False
    ui: Annotated[bool, Flag("ui", "Open the job's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show jobs."""
    if len(arguments) > 1:
        raise UsageError("This command takes either no arguments or one: <job>")
    if not arguments:
        return _show_list(session, options)
    job_id, client = find_job(session, arguments[0])
    if wants_machine_output(options):
        show_value(session.console, options, [_record(client, job_id)])
        return 0
    with failing_as("Error querying job"):
        answer = jobs.read(client, job_id)
    job = answer.value
    view = JobView(session, client, answer, verbose=options.verbose)
    view.show_keys()
    if not options.short:
        if job.periodic is not None and not job.parent_id:
            view.show_periodic()
        elif job.parameterized_job is not None and not job.parent_id:
            view.show_parameterized()
        else:
            view.show_work(all_allocs=options.all_allocs, with_evals=options.evals or options.verbose)
    show_hint(
        session,
        "View job details and metrics in the Web UI",
        job_page(job.id, job.namespace),
        opens=options.ui,
    )
    return 0


def _show_list(session: Session, options: Options) -> int:
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying jobs"):
        found = jobs.listing(session.client).value
    if is_machine_output:
        records = [_record(session.client.within(namespace=job.namespace), job.id) for job in found]
        show_value(session.console, options, records)
        return 0
    listing = job_table(found, with_namespace=session.client.namespace == EVERY_NAMESPACE)
    session.console.output(listing if found else "No running jobs")
    show_hint(session, "View and manage Yurt jobs in the Web UI", "jobs", opens=options.ui)
    return 0


def _record(client: Client, job_id: str) -> dict[str, Any]:
    with failing_as("Error querying job"):
        return {
            "Summary": json.loads(jobs.summary(client, job_id).body),
            "Allocations": json.loads(jobs.allocations(client, job_id, every_instance=True).body),
            "LatestDeployment": json.loads(jobs.latest_deployment(client, job_id).body),
            "Evaluations": json.loads(jobs.evaluations(client, job_id).body),
        }


COMMAND = Command(
    path="job status",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Display status information about a job. If no job ID is given, a list of all known jobs will be
        displayed.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the job's
        namespace. The 'list-jobs' capability is required to run the command with a job prefix instead of the
        exact job ID.
    """,
    help_path="status",
)
