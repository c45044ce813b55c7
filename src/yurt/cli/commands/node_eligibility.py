"""`yurt node eligibility`: let the scheduler place work on a node, or not."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.commands.node_status import own_node_id
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_node
from yurt.cli.options import Flag, GeneralOptions
from yurt.sdk import nodes


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `node eligibility`."""

    enable: Annotated[bool, Flag("enable", "Mark the node as eligible for scheduling.")] = False
    disable: Annotated[bool, Flag("disable", "Mark the node as ineligible for new allocations.")] = False
    is_self: Annotated[bool, Flag("self", "Set the eligibility of the local node.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Set a node's eligibility."""
    if options.enable == options.disable:
        raise UsageError("Either the '-enable' or '-disable' flag must be set")
    if len(arguments) > 1 or (options.is_self and arguments):
        raise UsageError("Node ID must not be specified if -self is being used")
    if not options.is_self and not arguments:
        raise UsageError("Node ID must be specified if -self isn't being used")
    node_id = own_node_id(session.client) if options.is_self else _find(session, arguments[0])
    with failing_as("Error updating scheduling eligibility"):
        nodes.set_eligibility(session.client, node_id, eligible=options.enable)
    state = "eligible for scheduling" if options.enable else "ineligible for scheduling"
    session.console.output(f'Node "{node_id}" scheduling eligibility set: {state}')
    return 0


def _find(session: Session, text: str) -> str:
    not_found = f'No node(s) with prefix or id "{text}" found'
    return find_node(session, text, not_found=not_found, context="Error updating scheduling eligibility").id


COMMAND = Command(
    path="node eligibility",
    options=Options,
    run=run,
    usage="[options] <node>",
    description="""
        Toggles the nodes scheduling eligibility. When a node is marked as ineligible, no new allocations
        will be placed on it but existing allocations will remain. To remove existing allocations, use the
        node drain command.

        It is required that either -enable or -disable is specified, but not both. The -self flag is
        useful to set the scheduling eligibility of the local node.

        When ACLs are enabled, this command requires a token with the 'node:write' capability.
    """,
)
