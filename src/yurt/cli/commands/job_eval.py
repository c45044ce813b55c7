"""`yurt job eval`: evaluate a job anew."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import jobs


class Options(FollowOptions, frozen=True, kw_only=True):
    """The flags of `job eval`."""

    force_reschedule: Annotated[
        bool,
        Flag("force-reschedule", "Reschedule failed allocations even if they are not eligible for it yet."),
    ] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Evaluate a job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    with failing_as("Error evaluating job"):
        answer = jobs.evaluate(client, job_id, force_reschedule=options.force_reschedule)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    eval_id = answer.value.eval_id
    if options.detach:
        # The blank before the end of the line is what scripts have always seen.
        session.console.output(f'Created eval ID: "{short_id(eval_id, verbose=options.verbose)}" ')
        return 0
    return follow(session, client, eval_id, options)


COMMAND = Command(
    path="job eval",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Force an evaluation of the provided job ID. Forcing an evaluation will trigger the scheduler to
        re-evaluate the job.

        When ACLs are enabled, this command requires a token with the 'submit-job' capability for the
        job's namespace. The 'list-jobs' capability is required to run the command with a job prefix
        instead of the exact job ID.
    """,
)
