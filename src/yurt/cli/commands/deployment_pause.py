"""`yurt deployment pause`."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseOptions
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id
from yurt.cli.lookup import find_deployment
from yurt.sdk import deployments


def run(session: Session, options: VerboseOptions, arguments: Sequence[str]) -> int:
    """Pause a deployment."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <deployment id>")
    deployment = find_deployment(session, arguments[0])
    with failing_as("Error pausing deployment"):
        deployments.pause(session.client, deployment.id, pause=True)
    session.console.output(f'Deployment "{short_id(deployment.id, verbose=options.verbose)}" paused')
    return 0


COMMAND = Command(
    path="deployment pause",
    options=VerboseOptions,
    run=run,
    usage="[options] <deployment id>",
    description="""
        Pause is used to pause a deployment. Pausing a deployment will pause the placement of new
        allocations as part of rolling deployment.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the deployment's namespace.
    """,
)
