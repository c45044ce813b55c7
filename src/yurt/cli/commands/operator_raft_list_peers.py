"""`yurt operator raft list-peers`: the servers that agree on the log."""

from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import failing_as
from yurt.cli.layout import table
from yurt.cli.machine_output import show_record, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import operator


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `operator raft list-peers`."""

    stale: Annotated[bool, Flag("stale", "Let any server answer, not only the leader.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List peers."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Failed to retrieve raft configuration"):
        answer = operator.raft_configuration(session.client, stale=options.stale)
    if is_machine_output:
        show_record(session.console, options, answer.body)
        return 0
    servers = answer.value.servers
    rows: list[list[object]] = [["Node", "ID", "Address", "State", "Voter", "RaftProtocol"]]
    rows.extend(
        [
            server.node,
            server.id,
            server.address,
            "leader" if server.leader else "follower",
            server.voter,
            server.raft_protocol,
        ]
        for server in sorted(servers, key=lambda server: server.node)
    )
    session.console.output(table(rows, empty=""))
    return 0


COMMAND = Command(
    path="operator raft list-peers",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Displays the servers that take part in agreeing on the state.

        If ACLs are enabled, this command requires a management token.
    """,
)
