"""`yurt node pool list`."""

from collections.abc import Sequence

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import name_table
from yurt.cli.paging import PagingOptions, show_next_page
from yurt.sdk import node_pools


def run(session: Session, options: PagingOptions, arguments: Sequence[str]) -> int:
    """List node pools."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying node pools"):
        answer = node_pools.listing(session.client, **options.query())
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    session.console.output(name_table(answer.value) if answer.value else "No node pools found")
    show_next_page(session, answer.next_token)
    return 0


COMMAND = Command(
    path="node pool list",
    options=PagingOptions,
    run=run,
    usage="[options]",
    description="""
        List is used to list existing node pools.

        If ACLs are enabled, pools that the token may not read are left out.
    """,
)
