"""`yurt eval list`."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.machine_output import show_value, wants_machine_output, with_members
from yurt.cli.options import Flag
from yurt.cli.paging import PagingOptions, show_next_page
from yurt.cli.records import EVALUATION_MEMBERS
from yurt.cli.tables import eval_table
from yurt.sdk import evals


class Options(PagingOptions, frozen=True, kw_only=True):
    """The flags of `eval list`."""

    job: Annotated[str | None, Flag("job", "Only show evaluations for this job ID.", "<job-id>")] = None
    status: Annotated[str | None, Flag("status", "Only show evaluations with this status.", "<status>")] = (
        None
    )
    verbose: Annotated[bool, Flag("verbose", "Show full information.")] = False
    ui: Annotated[bool, Flag("ui", "Open the evaluations' page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List evaluations, newest first."""
    if arguments:
        raise UsageError("This command takes no arguments")
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying evaluations"):
        answer = evals.listing(
            session.client,
            **options.query(),
            job=options.job or "",
            status=options.status or "",
            reverse=True,
        )
    if is_machine_output:
        show_value(session.console, options, with_members(json.loads(answer.body), EVALUATION_MEMBERS))
        return 0
    if not answer.value:
        session.console.output("No evals found")
        return 0
    session.console.output(eval_table(answer.value, verbose=options.verbose))
    show_next_page(session, answer.next_token)
    show_hint(session, "View evaluations in the Web UI", "evaluations", opens=options.ui)
    return 0


COMMAND = Command(
    path="eval list",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        List is used to list the set of evaluations processed by the servers, newest first.

        When ACLs are enabled, this command requires a token with the 'read-job' capability for the
        requested namespace.
    """,
)
