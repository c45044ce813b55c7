"""`yurt node pool info`: one node pool."""

from collections.abc import Sequence

from yurt.cli.arguments import one_argument
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import key_list
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.namespace_choice import find_pool
from yurt.cli.options import FormatOptions
from yurt.model.durations import duration_text
from yurt.sdk import node_pools


def run(session: Session, options: FormatOptions, arguments: Sequence[str]) -> int:
    """Show a node pool."""
    is_machine_output = wants_machine_output(options)
    pool = find_pool(session, one_argument(arguments, "<node-pool>"))
    if is_machine_output:
        with failing_as("Error retrieving node pool"):
            show_record(session.console, options, node_pools.read(session.client, pool.name).body)
        return 0
    console = session.console
    console.output(
        key_list(
            [
                ("Name", pool.name),
                ("Description", pool.description),
                ("Node Identity TTL", duration_text(pool.node_identity_ttl)),
            ]
        )
    )
    console.heading("Metadata")
    console.output(key_list(sorted(pool.meta.items())) if pool.meta else "No metadata")
    console.heading("Scheduler Configuration")
    scheduling = pool.scheduler_configuration
    if scheduling is None:
        console.output("No scheduler configuration")
        return 0
    pairs: list[tuple[str, object]] = [("Scheduler Algorithm", scheduling.scheduler_algorithm)]
    if scheduling.memory_oversubscription_enabled is not None:
        pairs.append(("Memory Oversubscription Enabled", scheduling.memory_oversubscription_enabled))
    console.output(key_list(pairs))
    return 0


COMMAND = Command(
    path="node pool info",
    options=FormatOptions,
    run=run,
    usage="[options] <node-pool>",
    description="""
        Info is used to fetch details on a specific node pool.

        If ACLs are enabled, this command requires a token with the 'read' capability in a 'node_pool'
        policy that matches the node pool being targeted.
    """,
)
