"""`yurt deployment status`: one deployment, or the list."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.commands.deployment_list import show_list
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.deployment_monitor import follow_deployment
from yurt.cli.deployment_view import deployment_record
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.layout import short_id
from yurt.cli.lookup import find_deployment
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, WatchFlag
from yurt.cli.times import absolute
from yurt.model.times import SECOND_NS
from yurt.sdk import deployments


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `deployment status`."""

    watch: WatchFlag = False
    monitor: Annotated[bool, Flag("monitor", "Follow the deployment until it ends.")] = False
    wait: Annotated[
        int,
        Flag(
            "wait",
            "With -monitor, how long to wait for a change before asking again. Default = 2s",
            "<duration>",
            form="duration",
        ),
    ] = 2 * SECOND_NS
    ui: Annotated[bool, Flag("ui", "Open the deployments' page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show a deployment."""
    if len(arguments) > 1:
        raise UsageError("This command takes one argument: <deployment id>")
    is_machine_output = wants_machine_output(options)
    if options.monitor and is_machine_output:
        raise CommandError("The monitor flag cannot be used with the '-json' or '-t' flags")
    if not arguments:
        return show_list(session, options, verbose=options.verbose)
    deployment = find_deployment(session, arguments[0])
    client = session.client
    if is_machine_output:
        with failing_as("Error retrieving deployment"):
            show_record(session.console, options, deployments.read(client, deployment.id).body)
        return 0
    if options.monitor:
        name = short_id(deployment.id, verbose=options.verbose)
        session.console.output(f'{absolute(session.now())}: Monitoring deployment "{name}"')
        follow_deployment(
            session,
            client,
            deployment.id,
            verbose=options.verbose,
            separator="",
            wait_s=options.wait / SECOND_NS,
        )
    else:
        session.console.output(deployment_record(session.console, deployment, verbose=options.verbose))
    show_hint(
        session,
        "View all deployments for this job in the Web UI",
        f"jobs/{deployment.job_id}/deployments",
        opens=options.ui,
    )
    return 0


COMMAND = Command(
    path="deployment status",
    options=Options,
    run=run,
    usage="[options] <deployment id>",
    description="""
        Status is used to display the status of a deployment. The status will display the number of
        desired changes as well as the currently applied changes. Without an ID all deployments are
        listed.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the
        deployment's namespace.
    """,
)
