"""`yurt job periodic force`: launch a periodic job now."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import jobs


def run(session: Session, options: FollowOptions, arguments: Sequence[str]) -> int:
    """Launch a periodic job."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job id>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0], kind="periodic ", accepts=lambda job: job.periodic)
    with failing_as("Error forcing periodic job"):
        answer = jobs.force_periodic(client, job_id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    return follow(session, client, answer.value.eval_id, options, done="Force periodic successful")


COMMAND = Command(
    path="job periodic force",
    options=FollowOptions,
    run=run,
    usage="[options] <job id>",
    description="""
        This command is used to force the creation of a new instance of a periodic job. This is used to
        immediately run a periodic job, even if it violates the job's prohibit_overlap setting.

        When ACLs are enabled, this command requires a token with the 'submit-job' capability for the
        job's namespace. The 'list-jobs' capability is required to run the command with a job prefix
        instead of the exact job ID.
    """,
)
