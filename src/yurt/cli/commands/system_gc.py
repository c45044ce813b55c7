"""`yurt system gc`: collect garbage now."""

from collections.abc import Sequence

from yurt.cli.command import PROGRAM, Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.options import GeneralOptions
from yurt.sdk import operator


def run(session: Session, _options: GeneralOptions, arguments: Sequence[str]) -> int:
    """Collect garbage. Arguments are complained about but change nothing."""
    if arguments:
        session.console.error("This command takes no arguments")
        session.console.error(f"For additional help try '{PROGRAM} system gc -help'")
    with failing_as("Error running system garbage-collection"):
        operator.collect_garbage(session.client)
    return 0


COMMAND = Command(
    path="system gc",
    options=GeneralOptions,
    run=run,
    usage="[options]",
    description="""
        Initializes a garbage collection of jobs, evaluations, allocations, and nodes. This is an
        asynchronous operation.

        If ACLs are enabled, this option requires a management token.
    """,
)
