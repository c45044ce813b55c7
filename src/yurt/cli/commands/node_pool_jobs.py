"""`yurt node pool jobs`: the jobs of a pool."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.lookup import EVERY_NAMESPACE
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import find_pool
from yurt.cli.paging import PagingOptions, show_next_page
from yurt.cli.tables import job_table
from yurt.sdk import node_pools


def run(session: Session, options: PagingOptions, arguments: Sequence[str]) -> int:
    """List the jobs of a pool."""
    is_machine_output = wants_machine_output(options)
    pool = find_pool(session, one_argument(arguments, "<node-pool>"))
    with failing_as("Error querying jobs"):
        answer = node_pools.jobs(session.client, pool.name, **options.query())
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    listing = job_table(answer.value, with_namespace=session.client.namespace == EVERY_NAMESPACE)
    session.console.output(listing if answer.value else "No jobs")
    show_next_page(session, answer.next_token)
    return 0


COMMAND = Command(
    path="node pool jobs",
    options=PagingOptions,
    run=run,
    usage="[options] <node-pool>",
    description="""
        Jobs is used to list the jobs that are registered in a node pool.

        If ACLs are enabled, this command requires a token with the 'read' capability in a 'node_pool'
        policy that matches the node pool, and the 'list-jobs' capability for the namespace.
    """,
)
