"""`yurt system reconcile summaries`: count the allocations of all jobs anew."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import operator


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Reconcile summaries."""
    no_arguments(arguments)
    with failing_as("Error running system summary reconciliation"):
        operator.reconcile_summaries(session.client)
    return 0


COMMAND = Command(
    path="system reconcile summaries",
    options=GeneralOptions,
    run=run,
    usage="[options]",
    description="""
        Reconciles the summaries of all registered jobs.

        If ACLs are enabled, this option requires a management token.
    """,
)
