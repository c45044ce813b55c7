"""`yurt deployment pause`."""

from collections.abc import Sequence

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.layout import short_id
from yurt.cli.lookup import find_deployment
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.sdk import deployments


def run(session: Session, options: VerboseFormatOptions, arguments: Sequence[str]) -> int:
    """Pause a deployment."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <deployment id>")
    is_machine_output = wants_machine_output(options)
    deployment = find_deployment(session, arguments[0])
    with failing_as("Error pausing deployment"):
        answer = deployments.pause(session.client, deployment.id, pause=True)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    session.console.output(f'Deployment "{short_id(deployment.id, verbose=options.verbose)}" paused')
    return 0


COMMAND = Command(
    path="deployment pause",
    options=VerboseFormatOptions,
    run=run,
    usage="[options] <deployment id>",
    description="""
        Pause is used to pause a deployment. Pausing a deployment will pause the placement of new
        allocations as part of rolling deployment.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the deployment's namespace.
    """,
)
