"""`yurt node drain`: move the work of a node elsewhere."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import key_values
from yurt.cli.command import Command, Session
from yurt.cli.commands.node_status import own_node_id
from yurt.cli.confirm import confirm
from yurt.cli.drain_monitor import follow_drain
from yurt.cli.errors import UsageError, failing_as
from yurt.cli.lookup import find_node
from yurt.cli.options import Flag, GeneralOptions
from yurt.cli.times import absolute
from yurt.model.times import HOUR_NS
from yurt.sdk import nodes

DEFAULT_DEADLINE_NS = HOUR_NS
FORCE = -1


class Options(GeneralOptions, frozen=True, kw_only=True):
    """The flags of `node drain`."""

    enable: Annotated[bool, Flag("enable", "Enable draining for the specified node.")] = False
    disable: Annotated[bool, Flag("disable", "Disable draining for the specified node.")] = False
    monitor: Annotated[bool, Flag("monitor", "Follow a drain that is under way.")] = False
    deadline: Annotated[
        int | None,
        Flag(
            "deadline",
            "The time by which all allocations must be moved off the node; the rest is then stopped. "
            "Default = 1h",
            "<duration>",
            form="duration",
        ),
    ] = None
    force: Annotated[bool, Flag("force", "Stop all allocations at once.")] = False
    no_deadline: Annotated[bool, Flag("no-deadline", "Wait for the allocations however long it takes.")] = (
        False
    )
    ignore_system: Annotated[bool, Flag("ignore-system", "Leave system jobs where they are.")] = False
    keep_ineligible: Annotated[
        bool, Flag("keep-ineligible", "With -disable, do not make the node eligible again.")
    ] = False
    message: Annotated[str, Flag("m", "Message for the drain update operation.", "<text>")] = ""
    meta: Annotated[
        tuple[str, ...],
        Flag("meta", "Metadata for the drain update operation. May be given several times.", "<key>=<value>"),
    ] = ()
    is_self: Annotated[bool, Flag("self", "Drain the local node.")] = False
    detach: Annotated[bool, Flag("detach", "Return immediately instead of following the drain.")] = False
    yes: Annotated[bool, Flag("yes", "Automatic yes to prompts.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Start, stop or follow a drain."""
    _check(options, arguments)
    if options.is_self:
        node_id = own_node_id(session.client)
    else:
        not_found = f'No node(s) with prefix or id "{arguments[0]}" found'
        node_id = find_node(
            session, arguments[0], not_found=not_found, context="Error toggling drain mode"
        ).id
    if options.monitor:
        return _monitor(session, node_id)
    if not options.is_self and node_id != arguments[0] and not options.yes:
        verb = "enable" if options.enable else "disable"
        question = f'Are you sure you want to {verb} drain mode for node "{node_id}"?'
        refused = confirm(session, question, cancelled="Canceling drain toggle")
        if refused is not None:
            return refused
    meta = key_values(options.meta)
    if options.message:
        meta["message" if options.enable else "cancel_message"] = options.message
    strategy: dict[str, object] | None = None
    if options.enable:
        strategy = {"Deadline": _deadline(options), "IgnoreSystemJobs": options.ignore_system}
    before = session.now()
    with failing_as("Error updating drain specification"):
        nodes.drain(
            session.client,
            node_id,
            strategy=strategy,
            mark_eligible=options.disable and not options.keep_ineligible,
            meta=meta,
        )
    if not options.enable or options.detach:
        session.console.output(f'Node "{node_id}" drain strategy {"set" if options.enable else "unset"}')
        return 0
    session.console.info(f"{absolute(before)}: Ctrl-C to stop monitoring: will not cancel the node drain")
    session.console.output(f'{absolute(session.now())}: Node "{node_id}" drain strategy set')
    return follow_drain(session, node_id, ignore_system=options.ignore_system)


def _check(options: Options, arguments: Sequence[str]) -> None:
    if options.enable == options.disable and not (options.monitor and not options.enable):
        raise UsageError("Either the '-enable' or '-disable' flag must be set, unless using '-monitor'")
    if options.force and options.no_deadline:
        raise UsageError("-force and -no-deadline are mutually exclusive")
    if options.deadline is not None and (options.force or options.no_deadline):
        raise UsageError("-deadline can't be combined with -force or -no-deadline")
    has_strategy = (
        options.deadline is not None or options.force or options.no_deadline or options.ignore_system
    )
    if options.disable and has_strategy:
        raise UsageError("-disable can't be combined with flags configuring drain strategy")
    if options.is_self and arguments:
        raise UsageError("Node ID can't be specified if -self is being used")
    if not options.is_self and len(arguments) != 1:
        raise UsageError("Node ID must be specified if -self isn't being used")


def _deadline(options: Options) -> int:
    if options.force:
        return FORCE
    if options.no_deadline:
        return 0
    return DEFAULT_DEADLINE_NS if options.deadline is None else options.deadline


def _monitor(session: Session, node_id: str) -> int:
    with failing_as("Error querying node"):
        strategy = nodes.read(session.client, node_id).value.drain_strategy
    if strategy is None:
        session.console.warn("No drain strategy set")
        return 0
    session.console.info(
        f'{absolute(session.now())}: Monitoring node "{node_id}": Ctrl-C to detach monitoring'
    )
    return follow_drain(session, node_id, ignore_system=strategy.ignore_system_jobs)


COMMAND = Command(
    path="node drain",
    options=Options,
    run=run,
    usage="[options] <node>",
    description="""
        Toggles node draining on a specified node. It is required that either -enable or -disable is
        specified, but not both. The -self flag is useful to drain the local node.

        When ACLs are enabled, this command requires a token with the 'node:write' capability.
    """,
)
