"""`yurt node status`: the list of nodes, or one node."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, UsageError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.layout import short_id, table
from yurt.cli.lookup import find_node
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.node_view import NodeView
from yurt.cli.options import Flag, WatchFlag
from yurt.cli.paging import PagingOptions, show_next_page
from yurt.sdk import Client, agent, nodes
from yurt.sdk.types.nodes import NodeStub


class Options(PagingOptions, frozen=True, kw_only=True):
    """The flags of `node status`."""

    watch: WatchFlag = False
    is_self: Annotated[bool, Flag("self", "Query the status of the local node.")] = False
    stats: Annotated[bool, Flag("stats", "Display detailed resource usage statistics.")] = False
    with_allocs: Annotated[bool, Flag("allocs", "Display a count of running allocations for each node.")] = (
        False
    )
    short: Annotated[
        bool, Flag("short", "Display short output. Used only when a single node is queried.")
    ] = False
    verbose: Annotated[bool, Flag("verbose", "Display full information.")] = False
    with_os: Annotated[bool, Flag("os", "Display operating system name.")] = False
    quiet: Annotated[bool, Flag("quiet", "Display only node IDs.")] = False
    ui: Annotated[bool, Flag("ui", "Open the node's page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """Show nodes."""
    if len(arguments) > 1:
        raise UsageError("This command takes either one or no arguments")
    is_machine_output = wants_machine_output(options)
    if options.quiet and (options.verbose or options.json):
        raise CommandError("-quiet cannot be used with -verbose or -json")
    if not arguments and not options.is_self:
        return _show_list(session, options, is_machine_output=is_machine_output)
    node_id = own_node_id(session.client) if options.is_self else _find(session, arguments[0])
    with failing_as("Error querying node info"):
        answer = nodes.read(session.client, node_id)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    view = NodeView(session, session.client, answer.value, verbose=options.verbose)
    if options.short:
        view.show_short()
    else:
        view.show(with_stats=options.stats)
    show_hint(
        session, "View client details and metrics in the Web UI", f"clients/{node_id}", opens=options.ui
    )
    return 0


def own_node_id(client: Client) -> str:
    """The id of the node that the asked agent is."""
    with failing_as("Error querying agent info"):
        stats = agent.read_self(client).value.stats
    node_id = stats.get("client", {}).get("node_id", "")
    if not node_id:
        raise CommandError("The agent that was asked is no client; ask one with -address, or name a node")
    return node_id


def _find(session: Session, text: str) -> str:
    not_found = f'No node(s) with prefix "{text}" found'
    return find_node(session, text, not_found=not_found, context="Error querying node").id


def _show_list(session: Session, options: Options, *, is_machine_output: bool) -> int:
    with failing_as("Error querying node status"):
        answer = nodes.listing(session.client, **options.query(), os=options.with_os)
    found = answer.value
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    if not found:
        session.console.output("No nodes registered")
        return 0
    if options.quiet:
        session.console.output("\n".join(node.id for node in found))
        return 0
    session.console.output(_table(session, options, found))
    show_next_page(session, answer.next_token)
    show_hint(session, "View and manage Yurt clients in the Web UI", "clients", opens=options.ui)
    return 0


def _table(session: Session, options: Options, found: Sequence[NodeStub]) -> str:
    header: list[object] = ["ID", "Node Pool", "DC", "Name", "Class"]
    header += ["OS"] if options.with_os else []
    header += ["Address", "Version"] if options.verbose else []
    header += ["Drain", "Eligibility", "Status"]
    header += ["Running Allocs"] if options.with_allocs else []
    rows = [header]
    for node in found:
        row: list[object] = [
            short_id(node.id, verbose=options.verbose),
            node.node_pool,
            node.datacenter,
            node.name,
            node.node_class,
        ]
        row += [node.attributes.get("os.name", "")] if options.with_os else []
        row += [node.address, node.version] if options.verbose else []
        row += [node.drain, node.scheduling_eligibility, node.status]
        row += [_running(session, node)] if options.with_allocs else []
        rows.append(row)
    return table(rows)


def _running(session: Session, node: NodeStub) -> int:
    with failing_as("Error querying node allocations"):
        found = nodes.allocations(session.client, node.id).value
    return sum(alloc.client_status == "running" for alloc in found)


COMMAND = Command(
    path="node status",
    options=Options,
    run=run,
    usage="[options] <node>",
    description="""
        Display status information about a given node. The list of nodes returned includes only nodes
        which jobs may be scheduled to, and includes status and other high-level information.

        If a node ID is passed, information for that specific node will be displayed, including resource
        usage statistics. If no node ID's are passed, then a short-hand list of all nodes will be
        displayed. The -self flag is useful to quickly access the status of the local node.

        When ACLs are enabled, this command requires a token with the 'node:read' capability.
    """,
)
