"""`yurt node meta apply`: set metadata of a node."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import key_values
from yurt.cli.command import Command, Session
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_node
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import nodes


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `node meta apply`."""

    node_id: Annotated[
        str, Flag("node-id", "The node to update. Default = the node that is asked", "<node>")
    ] = ""
    unset: Annotated[str, Flag("unset", "Keys to unset, separated by commas.", "<keys>")] = ""


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Apply metadata."""
    if not arguments and not options.unset:
        raise UsageError("Must specify -unset or at least 1 key=value pair")
    meta: dict[str, str | None] = {key: None for key in options.unset.split(",") if key}
    meta |= key_values(arguments)
    node_id = ""
    if options.node_id:
        not_found = f'No node(s) with prefix or id "{options.node_id}" found'
        node_id = find_node(session, options.node_id, not_found=not_found, context="Error querying node").id
    with failing_as("Error applying dynamic node metadata"):
        nodes.apply_meta(session.client, node_id, meta)
    return 0


COMMAND = Command(
    path="node meta apply",
    options=Options,
    run=run,
    usage="[options] [-unset=k1,...] k=v ...",
    description="""
        Modify a node's metadata. This command only works on client agents, and can be used to update the
        scheduling metadata the node registers. Changes survive restarts and win over the configuration.

        When ACLs are enabled, this command requires a token with the 'node:write' capability.
    """,
)
