"""`yurt deployment fail`: give a deployment up."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id
from yurt.cli.lookup import find_deployment
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import deployments


def run(session: Session, options: FollowOptions, arguments: Sequence[str]) -> int:
    """Fail a deployment."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <deployment id>")
    is_machine_output = wants_machine_output(options)
    deployment = find_deployment(session, arguments[0])
    with failing_as("Error failing deployment"):
        answer = deployments.fail(session.client, deployment.id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    name = short_id(deployment.id, verbose=options.verbose)
    changed = answer.value
    session.console.output(f'Deployment "{name}" failed')
    if changed.reverted_job_version is not None:
        session.console.output(f"Auto-reverted to job version {changed.reverted_job_version}")
    session.console.output("")
    return follow(session, session.client, changed.eval_id, options)


COMMAND = Command(
    path="deployment fail",
    options=FollowOptions,
    run=run,
    usage="[options] <deployment id>",
    description="""
        Fail is used to mark a deployment as failed. Failing a deployment will stop the placement of new
        allocations as part of rolling deployment and if the job is configured to auto revert, the job
        will attempt to roll back to a stable version.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the deployment's namespace.
    """,
)
