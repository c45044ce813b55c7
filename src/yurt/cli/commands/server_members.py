"""`yurt server members`: the servers of the cluster."""

import json
from collections.abc import Sequence
from typing import Annotated

from yurt.cli.arguments import no_arguments
from yurt.cli.command import Command, Session
from yurt.cli.errors import CommandError, failing_as
from yurt.cli.hints import show_hint
from yurt.cli.layout import table
from yurt.cli.machine_output import show_value, wants_machine_output
from yurt.cli.options import Flag, FormatOptions
from yurt.sdk import SdkError, agent
from yurt.sdk.agent import Member


class Options(FormatOptions, frozen=True, kw_only=True):
    """The flags of `server members`."""

    verbose: Annotated[
        bool, Flag("verbose", "Show detailed information, including tags.", also=("detailed",))
    ] = False
    ui: Annotated[bool, Flag("ui", "Open the servers' page in the browser.")] = False


def run(session: Session, options: Options, arguments: Sequence[str]) -> int:
    """List servers by name."""
    no_arguments(arguments)
    is_machine_output = wants_machine_output(options)
    with failing_as("Error querying servers"):
        answer = agent.members(session.client)
    leaders, problem = _leaders(session, answer.value.members)
    if is_machine_output:
        records = json.loads(answer.body)["Members"]
        for record in records:
            record["Tags"]["Leader"] = "true" if record["Name"] in leaders else "false"
        show_value(session.console, options, records)
        return 0
    members = sorted(answer.value.members, key=lambda member: member.name)
    session.console.output(_table(members, leaders, verbose=options.verbose))
    show_hint(session, "View and manage Yurt servers in the Web UI", "servers", opens=options.ui)
    if problem:
        session.console.output("")
        raise CommandError(f"Error determining leaders: {problem}")
    return 0


def _leaders(session: Session, members: Sequence[Member]) -> tuple[set[str], str]:
    """The names of the servers that lead their region, and what kept us from finding out."""
    names = set()
    problem = ""
    for region in sorted({member.tags.get("region", "") for member in members}):
        try:
            address = agent.leader(session.client.within(region=region))
        except SdkError as error:
            problem = f"Region {region!r}: {error}"
            continue
        names |= {
            member.name
            for member in members
            if member.tags.get("region", "") == region
            and f"{member.tags.get('rpc_addr') or member.addr}:{member.tags.get('port', '')}" == address
        }
    return names, problem


def _table(members: Sequence[Member], leaders: set[str], *, verbose: bool) -> str:
    header: list[object] = ["Name", "Address", "Port", "Status", "Leader"]
    header += ["Protocol"] if verbose else []
    header += ["Raft Version", "Build", "Datacenter", "Region"]
    header += ["Tags"] if verbose else []
    rows = [header]
    for member in members:
        tags = member.tags
        row: list[object] = [member.name, member.addr, member.port, member.status, member.name in leaders]
        row += [member.protocol_cur] if verbose else []
        row += [tags.get("raft_vsn", ""), tags.get("build", ""), tags.get("dc", ""), tags.get("region", "")]
        row += [",".join(f"{key}={tags[key]}" for key in sorted(tags))] if verbose else []
        rows.append(row)
    return table(rows, empty="")


COMMAND = Command(
    path="server members",
    options=Options,
    run=run,
    usage="[options]",
    description="""
        Display a list of the known servers and their status. Only servers are shown; use "yurt node
        status" for clients.

        If ACLs are enabled, this option requires a token with the 'node:read' capability.
    """,
)
