"""`yurt job promote`: take over the canaries of a job's newest deployment."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.lookup import find_job
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import deployments, jobs


class Options(FollowOptions, frozen=True, kw_only=True):
    """The flags of `job promote`."""

    groups: Annotated[
        tuple[str, ...],
        Flag("group", "A group to promote. May be given several times. Default = all groups", "<group>"),
    ] = ()


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Promote a job's deployment."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <job>")
    is_machine_output = wants_machine_output(options)
    job_id, client = find_job(session, arguments[0])
    with failing_as("Error retrieving deployments"):
        deployment = jobs.latest_deployment(client, job_id).value
    if deployment is None:
        raise CommandError(f"Unable to find deployment to promote for job {job_id!r}; it never had one")
    with failing_as("Error promoting deployment"):
        answer = deployments.promote(client, deployment.id, options.groups)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    return follow(session, client, answer.value.eval_id, options)


COMMAND = Command(
    path="job promote",
    options=Options,
    run=run,
    usage="[options] <job>",
    description="""
        Promote is used to promote task groups in the most recent deployment for the given job. Promotion
        should occur when the deployment has placed canaries for a task group and those canaries have been
        deemed healthy. When a task group is promoted, the rolling upgrade of the remaining allocations is
        unblocked.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the job's namespace. The 'list-jobs' capability is required to run the command
        with a job prefix instead of the exact job ID.
    """,
)
