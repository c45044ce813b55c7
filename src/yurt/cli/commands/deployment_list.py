"""`yurt deployment list`."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.common_options import VerboseFormatOptions
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.cli.tables import deployment_table
from yurt.sdk import deployments


class Options(VerboseFormatOptions, frozen=True, kw_only=True):
    """The flags of `deployment list`."""

    filter: Annotated[
        str | None, Flag("filter", "Specifies an expression used to filter the results.", "<expression>")
    ] = None


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List deployments."""
    if arguments:
        raise UsageError("This command takes no arguments")
    return show_list(session, options, verbose=options.verbose, filter_expression=options.filter or "")


def show_list(session: Session, options: FormatOptions, *, verbose: bool, filter_expression: str = "") -> int:
    """Show all deployments, newest first."""
    is_machine_output = wants_machine_output(options)
    with failing_as("Error retrieving deployments"):
        answer = deployments.listing(session.client, filter=filter_expression, reverse=True)
    if is_machine_output:
        show_record(session.console, options, answer.body)
    elif answer.value:
        session.console.output(deployment_table(answer.value, verbose=verbose))
    else:
        session.console.output("No deployments found")
    return 0


COMMAND = Command(
    path="deployment list",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        List is used to list the set of deployments tracked by the servers.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the
        deployments' namespace.
    """,
)
