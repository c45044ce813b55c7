"""`yurt deployment resume`."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id
from yurt.cli.lookup import find_deployment
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import deployments


def run(session: Session, options: FollowOptions, arguments: Sequence[str]) -> int:
    """Resume a deployment."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <deployment id>")
    is_machine_output = wants_machine_output(options)
    deployment = find_deployment(session, arguments[0])
    with failing_as("Error resuming deployment"):
        answer = deployments.pause(session.client, deployment.id, pause=False)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    done = f'Deployment "{short_id(deployment.id, verbose=options.verbose)}" resumed'
    return follow(session, session.client, answer.value.eval_id, options, done=done)


COMMAND = Command(
    path="deployment resume",
    options=FollowOptions,
    run=run,
    usage="[options] <deployment id>",
    description="""
        Resume is used to unpause a paused deployment. Resuming a deployment will resume the placement of
        new allocations as part of rolling deployment.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the deployment's namespace.
    """,
)
