"""`yurt deployment promote`: take canaries over."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import FollowOptions, follow
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_deployment
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag
from yurt.sdk import deployments


class Options(FollowOptions, frozen=True, kw_only=True):
    """The flags of `deployment promote`."""

    groups: Annotated[
        tuple[str, ...],
        Flag("group", "A group to promote. May be given several times. Default = all groups", "<group>"),
    ] = ()


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Promote a deployment."""
    if len(arguments) != 1:
        raise UsageError("This command takes one argument: <deployment id>")
    is_machine_output = wants_machine_output(options)
    deployment = find_deployment(session, arguments[0])
    with failing_as("Error promoting deployment"):
        answer = deployments.promote(session.client, deployment.id, options.groups)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    return follow(session, session.client, answer.value.eval_id, options)


COMMAND = Command(
    path="deployment promote",
    options=Options,
    run=run,
    usage="[options] <deployment id>",
    description="""
        Promote is used to promote task groups in a deployment. Promotion should occur when the deployment
        has placed canaries for a task group and those canaries have been deemed healthy. When a task
        group is promoted, the rolling upgrade of the remaining allocations is unblocked.

        When ACLs are enabled, this command requires a token with the 'submit-job' and 'read-job'
        capabilities for the deployment's namespace.
    """,
)
